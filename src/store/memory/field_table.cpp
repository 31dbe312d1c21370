// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/field_table.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/error.h"

namespace anadrome::store {
namespace {

constexpr std::array<std::pair<anadrome_role, std::string_view>, 3> kRoles = {
    {{ANADROME_ROLE_STATE, "state"},
     {ANADROME_ROLE_TAPE, "tape"},
     {ANADROME_ROLE_ADJOINT, "adjoint"}}};
constexpr std::array<std::pair<anadrome_type, std::string_view>, 7> kTypes = {
    {{ANADROME_FLOAT32, "float32"},
     {ANADROME_FLOAT64, "float64"},
     {ANADROME_COMPLEX64, "complex64"},
     {ANADROME_COMPLEX128, "complex128"},
     {ANADROME_INT32, "int32"},
     {ANADROME_INT64, "int64"},
     {ANADROME_BYTE, "byte"}}};

template <class Names, class Value>
std::string_view name_of(const Names& names, Value value) {
  for (const auto& [named, name] : names) {
    if (named == value) return name;
  }
  throw Error(ANADROME_ERR_INTERNAL, "a field of no known role or type");
}

template <class Names, class Value>
bool find(const Names& names, std::string_view text, Value& value) {
  for (const auto& [named, name] : names) {
    if (name == text) {
      value = named;
      return true;
    }
  }
  return false;
}

// Up to the next `end`, which is taken too; all of it where there is none.
std::string_view take(std::string_view& text, char end) {
  const std::string_view word = text.substr(0, text.find(end));
  text.remove_prefix(word.size() < text.size() ? word.size() + 1 : word.size());
  return word;
}

bool parse(std::string_view line, Field& field) {
  field.name = take(line, ' ');
  if (field.name.empty() || !find(kRoles, take(line, ' '), field.role) ||
      !find(kTypes, take(line, ' '), field.type)) {
    return false;
  }
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), field.count);
  return error == std::errc{} && end == line.data() + line.size() && field.count >= 0 &&
         field.count <= std::numeric_limits<std::int64_t>::max() / element_bytes(field.type);
}

}  // namespace

std::string described(const Field& field) {
  return field.name + " (" + std::string(name_of(kRoles, field.role)) + ", " +
         std::string(name_of(kTypes, field.type)) + ")";
}

std::string_view type_name(anadrome_type type) { return name_of(kTypes, type); }

std::string field_table(std::span<const Field> fields) {
  std::string table;
  for (const Field& field : fields) {
    table += field.name + " ";
    table += name_of(kRoles, field.role);
    table += " ";
    table += name_of(kTypes, field.type);
    table += " " + std::to_string(field.count) + "\n";
  }
  return table;
}

std::vector<Field> parse_field_table(std::string_view table) {
  std::vector<Field> fields;
  while (!table.empty()) {
    const std::string_view line = take(table, '\n');
    Field field;
    if (!parse(line, field)) {
      throw Error(ANADROME_ERR_CORRUPT, "a table of fields has the line '" +
                                            std::string(line.substr(0, 80)) +
                                            "', which is not \"name role type count\"");
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace anadrome::store
