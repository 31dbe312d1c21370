FC = mpifort
FFLAGS = -std=f2018 $(shell pkg-config --cflags anadrome-fortran)
LDLIBS = $(shell pkg-config --libs anadrome-fortran) -Wl,-rpath,$(shell pkg-config --variable=libdir anadrome)

sweep: $(SOURCE)/../../examples/burgers/burgers.f90
	$(FC) $(FFLAGS) $< -o $@ $(LDLIBS)
