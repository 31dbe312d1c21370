// SPDX-License-Identifier: BSD-2-Clause
// The exact tables in tests/reference: comma-separated numbers under one line of names.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace anadrome::schedule {

/// All cells of every row, as they are written.
inline std::vector<std::vector<std::string>> reference_cells(const std::string& file) {
  std::ifstream in(std::string(ANADROME_TEST_REFERENCE_DIR) + "/" + file);
  if (!in) throw std::runtime_error("no reference table " + file);
  std::vector<std::vector<std::string>> rows;
  std::string line, cell;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::vector<std::string>& row = rows.emplace_back();
    while (std::getline(cells, cell, ',')) row.push_back(cell);
  }
  return rows;
}

/// The first `columns` columns of every row; they must be integers.
inline std::vector<std::vector<std::int64_t>> reference_rows(const std::string& file,
                                                             std::size_t columns) {
  std::vector<std::vector<std::int64_t>> rows;
  for (const std::vector<std::string>& cells : reference_cells(file)) {
    std::vector<std::int64_t>& row = rows.emplace_back();
    for (std::size_t k = 0; k < columns; ++k) row.push_back(std::stoll(cells.at(k)));
  }
  return rows;
}

/// The integers of a cell that holds several, with anything but digits between.
inline std::vector<std::int64_t> integers_in(std::string cell) {
  for (char& c : cell) c = c >= '0' && c <= '9' ? c : ' ';
  std::istringstream words(cell);
  std::vector<std::int64_t> values;
  for (std::int64_t value = 0; words >> value;) values.push_back(value);
  return values;
}

}  // namespace anadrome::schedule
