// SPDX-License-Identifier: BSD-2-Clause
// A journal whose sums are right, whatever it says: mutation alone never gets past them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/journal/journal_record.h"
#include "store/moving/byte_code.h"

namespace anadrome::test {

/// A journal from records without their sums: u32 length, u32 type, payload, and so on. For each of
/// them `each(bytes of it, sum before it, sum of it)` is called.
template <class Each>
std::string forged_journal(std::string_view records, const Each& each) {
  std::string file = store::journal_preamble();
  Checksum chain = store::journal_preamble_sum();
  while (records.size() >= store::kRecordHeadBytes) {
    store::Decoder head(records);
    const std::size_t length =
        std::min<std::size_t>(head.u32(), records.size() - store::kRecordHeadBytes);
    const std::uint32_t type = head.u32();
    const std::string covered =
        store::Encoder().u32(static_cast<std::uint32_t>(length)).u32(type).bytes() +
        std::string(records.substr(store::kRecordHeadBytes, length));
    records.remove_prefix(store::kRecordHeadBytes + length);
    const Checksum before = chain;
    chain = store::record_sum(before, covered);
    file += covered + store::Encoder().sum(chain).bytes();
    each(covered, before, chain);
  }
  return file;
}

}  // namespace anadrome::test
