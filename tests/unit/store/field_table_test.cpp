// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/field_table.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "has_part.h"

namespace anadrome::store {
namespace {

Field field(const char* name, anadrome_role role, anadrome_type type, std::int64_t count) {
  return {name, role, type, count, false, nullptr, {}};
}

TEST(FieldTable, ComesBackAsItWas) {
  std::vector<Field> fields = {field("u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 1000),
                               field("none", ANADROME_ROLE_STATE, ANADROME_FLOAT32, 0),
                               field("stage-1.k", ANADROME_ROLE_TAPE, ANADROME_COMPLEX128, 7),
                               field("lambda", ANADROME_ROLE_ADJOINT, ANADROME_COMPLEX64, 8),
                               field("i", ANADROME_ROLE_STATE, ANADROME_INT32, 9),
                               field("j", ANADROME_ROLE_STATE, ANADROME_INT64, 10),
                               field("raw", ANADROME_ROLE_STATE, ANADROME_BYTE, 1LL << 60)};
  const std::string table = field_table(fields);
  EXPECT_EQ(table.substr(0, table.find('\n') + 1), "u state float64 1000\n");
  const std::vector<Field> back = parse_field_table(table);
  ASSERT_EQ(back.size(), fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    EXPECT_EQ(back[f].name, fields[f].name);
    EXPECT_EQ(back[f].role, fields[f].role);
    EXPECT_EQ(back[f].type, fields[f].type);
    EXPECT_EQ(back[f].count, fields[f].count);
  }
  EXPECT_EQ(field_table(back), table);
  EXPECT_TRUE(parse_field_table("").empty());
}

TEST(FieldTable, SaysWhichLineIsWrong) {
  for (const char* line :
       {"\n", "u\n", "u state\n", "u state float64\n", "u state float64 -1\n", " state float64 1\n",
        "u state float64 x\n", "u state float64 1x\n", "u state float64 1 \n", "u tate float64 1\n",
        "u state float16 1\n", "u state float64 9223372036854775807\n",
        "u state byte 9223372036854775808\n"}) {
    const Failure failure =
        failure_from([&] { parse_field_table(std::string("v state byte 1\n") + line); });
    EXPECT_EQ(failure.status, ANADROME_ERR_CORRUPT);
    EXPECT_TRUE(
        test::has_part(failure.message, "'" + std::string(line, std::strlen(line) - 1) + "'"));
  }
}

}  // namespace
}  // namespace anadrome::store
