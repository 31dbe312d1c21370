// The exact tables in tests/reference: comma-separated numbers under one line of names.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace anadrome::schedule {

/// The first `columns` columns of every row; they must be integers.
inline std::vector<std::vector<std::int64_t>> reference_rows(const std::string& file,
                                                             std::size_t columns) {
  std::ifstream in(std::string(ANADROME_TEST_REFERENCE_DIR) + "/" + file);
  if (!in) throw std::runtime_error("no reference table " + file);
  std::vector<std::vector<std::int64_t>> rows;
  std::string line, cell;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::vector<std::int64_t>& row = rows.emplace_back();
    while (row.size() < columns && std::getline(cells, cell, ',')) row.push_back(std::stoll(cell));
  }
  return rows;
}

}  // namespace anadrome::schedule
