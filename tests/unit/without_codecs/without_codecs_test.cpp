// SPDX-License-Identifier: BSD-2-Clause
// A build that found neither LZ4 nor zfp: its codecs are compiled beside this test, the rest is the
// library's.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "base/error.h"
#include "engine/asked/options.h"
#include "store/moving/piece_codec.h"

namespace anadrome {
namespace {

struct Refusal {
  anadrome_status status = ANADROME_OK;
  std::string text;
};

template <class Call>
Refusal refusal_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {};
}

Refusal refusal_of_compress(const char* codec) {
  return refusal_of([&] { engine::Options().set("compress", codec); });
}

TEST(WithoutCodecs, AnOptionNamesThePackageThatTheBuildIsWithout) {
  for (const char* const codec : {"lz4", "round", "lossy"}) {
    const Refusal refusal = refusal_of_compress(codec);
    EXPECT_EQ(refusal.status, ANADROME_ERR_UNSUPPORTED) << codec;
    EXPECT_NE(refusal.text.find("liblz4-dev"), std::string::npos) << refusal.text;
  }
  EXPECT_EQ(refusal_of_compress("zfp").status, ANADROME_ERR_UNSUPPORTED);
  EXPECT_NE(refusal_of_compress("ZFP").text.find("libzfp-dev"), std::string::npos);
  EXPECT_EQ(refusal_of_compress("lz5").status, ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(refusal_of_compress("off").status, ANADROME_OK);
  EXPECT_EQ(refusal_of_compress("float32").status, ANADROME_OK);
}

TEST(WithoutCodecs, NumbersBeyondSinglePrecisionStayAsTheyAre) {
  const std::array<double, 4> numbers = {1.5, -2.25, 1e300, 0.0};
  const std::array names = {store::CodecName::kFloat32};
  store::PieceCodec codec(names, sizeof numbers);
  const store::Numbers kind = {8, 8, 0, {4, 1, 1}, std::numeric_limits<double>::infinity()};
  std::array<std::byte, sizeof numbers> encoded = {};
  std::array<double, 4> back = {};
  const store::Piece piece =
      codec.encode(names[0], std::as_bytes(std::span(numbers)), kind, encoded);
  EXPECT_EQ(piece.coding, store::Piece::Coding::kPlain);
  codec.decode(piece, std::span(encoded).first(static_cast<std::size_t>(piece.bytes)), kind,
               std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, numbers);
}

TEST(WithoutCodecs, PiecesOfOtherBuildsAreRefused) {
  std::array<std::byte, 64> bytes = {};
  const Refusal lz4 = refusal_of([&] { store::expand_lz4(bytes, bytes); });
  EXPECT_EQ(lz4.status, ANADROME_ERR_UNSUPPORTED) << lz4.text;
  const Refusal zfp = refusal_of([&] {
    store::ZfpCodec(64).decode(bytes, bytes, 8, store::Sizes{8, 1, 1});
  });
  EXPECT_EQ(zfp.status, ANADROME_ERR_UNSUPPORTED) << zfp.text;
}

}  // namespace
}  // namespace anadrome
