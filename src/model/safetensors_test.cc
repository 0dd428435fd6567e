#include "model/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "attend/error.h"
#include "base/files.h"
#include "model/model_fixture.h"

namespace attend {
namespace {

using testing::HasSubstr;

using SafetensorsTest = FolderTest;

std::string WithLength(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

// The message of the Error(kInput) that parsing gives, or "" where it is accepted.
std::string ParseMessage(const std::string& file) {
  auto aligned = std::make_shared<std::vector<uint64_t>>(file.size() / 8 + 1);
  std::memcpy(aligned->data(), file.data(), file.size());
  try {
    ParseSafetensors({reinterpret_cast<const std::byte*>(aligned->data()), file.size()}, aligned,
                     "f");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("f: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_LT(message.size(), 700u);
    return message;
  }
  return "";
}

// Pads the header so that the data is aligned to 8.
std::string HeaderMessage(std::string header, size_t data_bytes) {
  header.append((8 - header.size() % 8) % 8, ' ');
  return ParseMessage(WithLength(header, std::string(data_bytes, '\0')));
}

std::string Entry(const std::string& name, const std::string& shape, uint64_t begin, uint64_t end,
                  const std::string& type = "F32") {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name, type,
                     shape, begin, end);
}

TEST_F(SafetensorsTest, RoundTripKeepsOrderBytesAndAlignment) {
  const float floats[] = {1, 2, 3, 4, 5, 6};
  const int64_t wide[] = {-1};
  const uint8_t bytes[] = {1, 2, 3};
  TensorTable table;
  table.Add({"bytes", TensorType::kU8, {3}, reinterpret_cast<const std::byte*>(bytes)});
  table.Add({"floats \"quoted\" ü",
             TensorType::kF32,
             {2, 3},
             reinterpret_cast<const std::byte*>(floats)});
  table.Add({"scalar", TensorType::kI64, {}, reinterpret_cast<const std::byte*>(wide)});
  table.Add({"none", TensorType::kF32, {0, 7}, reinterpret_cast<const std::byte*>(floats)});
  SaveSafetensors(table, folder_ / "a");
  const TensorTable back = LoadSafetensors(folder_ / "a");
  ASSERT_EQ(back.tensors().size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const TensorView &a = table.tensors()[i], &b = back.tensors()[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.shape, b.shape);
    ASSERT_EQ(a.bytes(), b.bytes());
    EXPECT_EQ(std::memcmp(a.data, b.data, a.bytes()), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b.data) % TensorTypeSize(b.type), 0u);
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(back.Get("scalar").data) % 64,
            0u);  // the widest comes first
  SaveSafetensors(back, folder_ / "b");
  EXPECT_EQ(ReadFile(folder_ / "a"), ReadFile(folder_ / "b"));
}

TEST_F(SafetensorsTest, ReadsWhatOthersWrite) {
  EXPECT_EQ(HeaderMessage("{}", 0), "");
  EXPECT_EQ(HeaderMessage(R"({"__metadata__":{"format":"pt"},)" + Entry("a", "[2]", 0, 8) + "}", 8),
            "");
  EXPECT_EQ(HeaderMessage("{" + Entry("b", "[2]", 4, 12) + "," + Entry("a", "[1]", 0, 4) + "}", 12),
            "");
}

TEST_F(SafetensorsTest, RefusesBadLengths) {
  EXPECT_THAT(ParseMessage(""), HasSubstr("has 0 bytes"));
  EXPECT_THAT(ParseMessage("1234567"), HasSubstr("has 7 bytes"));
  EXPECT_THAT(ParseMessage(std::string(8, '\0')), HasSubstr("does not start with '{'"));
  EXPECT_THAT(ParseMessage(std::string(8, '\xff') + "{}"),
              HasSubstr("header of 18446744073709551615"));
  EXPECT_THAT(ParseMessage(std::string("\x03\0\0\0\0\0\0\0{}", 10)), HasSubstr("header of 3"));
  std::string spaces;
  spaces.resize(100'000'001, ' ');
  const std::string big = WithLength(spaces, "");
  EXPECT_THAT(ParseMessage(big), HasSubstr("header of 100000001"));
}

TEST_F(SafetensorsTest, RefusesBadOffsets) {
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[2]", 0, 8) + "}", 7), HasSubstr("holds 7 bytes"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[2]", 8, 0) + "}", 8), HasSubstr("[8, 0]"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[3]", 0, 8) + "}", 8), HasSubstr("expected 12"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[2]", 0, 8) + "}", 9), HasSubstr("holds 9 bytes"));
  EXPECT_THAT(
      HeaderMessage("{" + Entry("a", "[2]", 0, 8) + "," + Entry("b", "[2]", 4, 12) + "}", 12),
      HasSubstr("overlaps"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[2]", 0, 8) + "," + Entry("b", "[2]", 0, 8) + "}", 8),
              HasSubstr("overlaps"));
  EXPECT_THAT(
      HeaderMessage("{" + Entry("a", "[1]", 0, 4) + "," + Entry("b", "[1]", 8, 12) + "}", 12),
      HasSubstr("hole"));
  EXPECT_THAT(
      HeaderMessage("{" + Entry("a", "[1]", 18446744073709551612u, 18446744073709551615u) + "}", 8),
      HasSubstr("holds 8 bytes"));
  EXPECT_THAT(
      HeaderMessage("{" + Entry("c", "[1]", 0, 1, "U8") + "," + Entry("a", "[1]", 1, 5) + "}", 5),
      HasSubstr("not aligned"));
}

TEST_F(SafetensorsTest, RefusesBadShapes) {
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[4294967296,4294967296]", 0, 0) + "}", 0),
              HasSubstr("past 2^63"));
  // Times 4 bytes this is 0 modulo 2^64.
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[4611686018427387904]", 0, 0) + "}", 0),
              HasSubstr("past 2^63"));
  EXPECT_THAT(
      HeaderMessage("{" + Entry("a", "[4611686018427387904,4611686018427387904,0]", 0, 0) + "}", 0),
      HasSubstr("past 2^63"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[-2]", 0, 8) + "}", 8), HasSubstr("holds -2"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[2.0]", 0, 8) + "}", 8), HasSubstr("holds 2.0"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[18446744073709551616]", 0, 8) + "}", 8),
              HasSubstr("holds 1844"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[9223372036854775808]", 0, 8) + "}", 8),
              HasSubstr("holds 9223"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[1,1,1,1,1,1,1,1,1]", 0, 4) + "}", 4),
              HasSubstr("more than 8"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[[1]]", 0, 4) + "}", 4), HasSubstr("a list"));
}

TEST_F(SafetensorsTest, RefusesBadHeaders) {
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[2]", 0, 8, "F8_E4M3") + "}", 8),
              HasSubstr("'F8_E4M3', expected F32"));
  EXPECT_THAT(HeaderMessage("{" + Entry("a", "[0]", 0, 0) + "," + Entry("a", "[0]", 0, 0) + "}", 0),
              HasSubstr("'a' appears twice"));
  EXPECT_THAT(HeaderMessage("{" + Entry("", "[0]", 0, 0) + "}", 0), HasSubstr("name has 0 bytes"));
  EXPECT_THAT(HeaderMessage("{" + Entry(std::string(600, 'x'), "[0]", 0, 0) + "}", 0),
              HasSubstr("600 bytes"));
  EXPECT_THAT(HeaderMessage(R"({"a":{"dtype":"F32","shape":[0]}})", 0), HasSubstr("lacks one of"));
  EXPECT_THAT(HeaderMessage(R"({"a":{}})", 0), HasSubstr("lacks one of"));
  EXPECT_THAT(HeaderMessage(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0]}})", 0),
              HasSubstr("lacks one"));
  EXPECT_THAT(HeaderMessage(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0,0]}})", 0),
              HasSubstr("holds 0"));
  EXPECT_THAT(HeaderMessage(R"({"a":{"dtype":"F32","dtype":"F32"}})", 0),
              HasSubstr("'dtype' appears twice"));
  EXPECT_THAT(HeaderMessage(R"({"a":{"shape":[],"shape":[]}})", 0),
              HasSubstr("'shape' appears twice"));
  EXPECT_THAT(HeaderMessage(R"({"a":{"shapes":[]}})", 0), HasSubstr("unknown key 'shapes'"));
  EXPECT_THAT(HeaderMessage(R"({"a":{"dtype":{}}})", 0), HasSubstr("an object"));
  EXPECT_THAT(HeaderMessage(R"({"a":[]})", 0), HasSubstr("a list"));
  EXPECT_THAT(HeaderMessage(R"({"a":null})", 0), HasSubstr("null"));
  EXPECT_THAT(HeaderMessage(R"({"a":true})", 0), HasSubstr("true or false"));
  EXPECT_THAT(HeaderMessage("[]", 0), HasSubstr("does not start"));
  EXPECT_THAT(HeaderMessage("{} {}", 0),
              HasSubstr("not valid JSON at its byte 4: unexpected '{' after '{} '"));
  EXPECT_THAT(HeaderMessage("{\"\xff\":1}", 0), HasSubstr("not valid JSON"));
  EXPECT_THAT(HeaderMessage(R"({"a":1e999})", 0), HasSubstr("a number is too large"));
  EXPECT_THAT(HeaderMessage(R"({"__metadata__":"x",)" + Entry("a", "[0]", 0, 0) + "}", 0),
              HasSubstr("holds x"));
  EXPECT_THAT(HeaderMessage(R"({"__metadata__":{"a":{}}})", 0), HasSubstr("an object"));
  EXPECT_THAT(HeaderMessage(R"({"__metadata__":{},"__metadata__":{}})", 0),
              HasSubstr("appears twice"));
  std::string deep = "{\"a\":{\"shape\":";
  deep += std::string(1'000'000, '[');
  EXPECT_THAT(HeaderMessage(deep, 0), HasSubstr("a list"));
}

TEST_F(SafetensorsTest, ManyTensorsTakeLinearTime) {
  std::string header = "{";
  for (int i = 0; i < 100'000; ++i) header += Entry(fmt::format("t{}", i), "[0]", 0, 0) + ",";
  header.back() = '}';
  EXPECT_EQ(HeaderMessage(header, 0), "");
}

TEST_F(SafetensorsTest, TruncatedAtEveryByte) {
  SaveSafetensors(RandomTensors(SmallConfig(8), 1, 0.3), folder_ / "a");
  const std::string file = ReadFile(folder_ / "a");
  EXPECT_EQ(ParseMessage(file), "");
  for (size_t size = 0; size < file.size(); size += size < 5000 ? 1 : 97) {
    EXPECT_NE(ParseMessage(file.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace attend
