# SPDX-License-Identifier: BSD-2-Clause
"""platform_test.py SOURCES PORTABLE BINARY...: what is Linux's own is in src/base/platform/linux.cpp alone, and what is
built with ANADROME_PORTABLE calls nothing of it: nothing but what C, POSIX (2008, with getentropy of 2024) and all of BSD
have."""
import pathlib
import re
import subprocess
import sys
import unittest

SOURCES, PORTABLE, BINARIES = pathlib.Path(sys.argv[1]), sys.argv[2] == "ON", sys.argv[3:]
del sys.argv[1:]

OF_LINUX = re.compile(r"""
    <linux/\w+\.h> | <sys/(?:epoll|eventfd|inotify|prctl|sendfile|signalfd|statfs|syscall|sysinfo|timerfd|vfs)\.h> |
    "/proc | /sys/ | \b(?:O_DIRECT|O_PATH|O_TMPFILE|SEEK_DATA|SEEK_HOLE|MADV_\w+|MAP_NORESERVE|MAP_POPULATE|RENAME_\w+)\b |
    \b(?:syscall|madvise|fallocate|sync_file_range|posix_fadvise|posix_fallocate|memfd_create|statfs|sched_\w+affinity|
    pthread_setname_np|pthread_setaffinity_np|gettid|prctl|getrandom|pipe2|dup3|accept4|renameat2|pidfd_\w+|mremap)\s*\(
""", re.VERBOSE)

# What the C library is called for. Names with __ are the compiler's own way to some of them.
C = """abort acos asctime asin atan atexit bcmp calloc clock cos div errno exit exp expm1 fclose feclearexcept fegetenv
    feholdexcept fesetenv ferror fflush fgets fopen fprintf fputc fputs fread free frexp fscanf fwrite getc getenv hypot
    isalnum isspace ldexp ldexpf fmod ilogb ldiv lgamma lldiv llrint llround localeconv log log10 log1p log2 lrint lround malloc memchr memcmp
    memcpy memmove memset mktime modf nearbyint nextafter pow printf putc putchar puts qsort rand realloc remove rint
    round setlocale setvbuf sin snprintf sprintf sqrt sscanf stderr stdin stdout strchr strcmp strcpy strerror strftime
    strlen strnlen strncmp strncpy strrchr strstr strtod strtol strtold strtoll strtoul strtoull tan time tolower ungetc vfprintf
    vprintf vsnprintf aligned_alloc at_quick_exit fma floor ceil exp2 erf erfc cbrt timespec_get"""
POSIX = """access alarm dup2 chdir chmod clock_gettime clock_nanosleep close closedir dirfd dlopen dlsym dprintf fchmod fchmodat fcntl fdatasync
    fdopendir fileno fork fstat fstatat fsync ftruncate getcwd getentropy gethostid gethostname getpid getppid
    gettimeofday getuid geteuid gmtime_r isatty kill localtime_r lseek lstat mkdir mkdirat mkstemp mmap munmap nanosleep
    newlocale freelocale uselocale open openat opendir pipe poll posix_fadvise posix_fallocate posix_memalign pread
    pthread_atfork pthread_cond_broadcast pthread_cond_clockwait pthread_cond_destroy pthread_cond_signal
    pthread_cond_timedwait pthread_cond_wait pthread_create pthread_join pthread_kill pthread_mutex_destroy
    pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock pthread_once pthread_self pthread_sigmask pwrite raise
    read readdir readlink readlinkat realpath rename rmdir sched_yield select setenv setpriority sigaction sigaddset
    sigemptyset sigfillset signal stat strerror_r strtok_r sysconf tzset umask uname unlink unlinkat usleep utimensat
    waitid waitpid write _exit"""
BSD = "flock getrlimit ioctl secure_getenv setrlimit strsignal"


def code_of(text):
    """Without comments; strings stay, but those that say words to people (an option that is named O_DIRECT)."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def called(binary):
    """The functions of the C library that it takes: no versions, no prefix of a wider off_t."""
    text = subprocess.run(["nm", "-D", "--undefined-only", binary], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^ *[Uwv] (\w+)@GLIBC_", text, flags=re.MULTILINE)
    return {re.sub(r"64$", "", name) for name in names if not name.startswith("__")}


class Platform(unittest.TestCase):
    def test_one_file_has_all_that_is_of_linux(self):
        found = []
        for path in sorted(SOURCES.rglob("*")):
            if path.suffix in (".h", ".cpp", ".c") and path.parent != SOURCES / "base/platform":
                code = re.sub(r'"(?!/proc)(?:[^"\\\n]|\\.)*"', '""', code_of(path.read_text(encoding="utf-8")))
                found += [f"{path}: {match.group()}" for match in OF_LINUX.finditer(code)]
        self.assertFalse(found, "\n".join(["belongs in base/platform:", *found]))
        self.assertRegex((SOURCES / "base/platform/linux.cpp").read_text(encoding="utf-8"), OF_LINUX)
        self.assertNotIn("/proc", code_of((SOURCES / "base/platform/posix.cpp").read_text(encoding="utf-8")))

    def test_the_portable_build_calls_nothing_else(self):
        # syscall: libstdc++ waits for a jthread's request to stop by it. That src does not call it is seen above.
        others = {"syscall"} | set().union(*map(called, BINARIES)) - set(f"{C} {POSIX} {BSD}".split())
        if PORTABLE:
            self.assertEqual(others, {"syscall"})
        else:
            self.assertLessEqual({"fallocate", "memfd_create", "statfs"}, others, "this test would not see them")


if __name__ == "__main__":
    unittest.main()
