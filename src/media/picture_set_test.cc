#include "media/picture_set.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>

#include "attend/error.h"
#include "base/files.h"
#include "media/picture_survey.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

template <class Call>
std::string SetRefusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "taken";
}

class PictureSetTest : public testing::Test {
 protected:
  PictureSetTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  std::string Write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    WriteFileAtomically(folder_ / name, bytes);
    return (folder_ / name).string();
  }
  std::string WriteGzip(const std::string& name, const std::string& bytes) const {
    const std::string path = (folder_ / name).string();
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path;
  }
  static std::string Numbers(std::initializer_list<uint32_t> numbers) {
    std::string bytes;
    for (const uint32_t number : numbers)
      for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
    return bytes;
  }
  // Picture i is full of 10 i and ends in i.
  static std::string IdxBytes(uint32_t claimed, int pictures) {
    std::string bytes = Numbers({0x803, claimed, 2, 3});
    for (int i = 0; i < pictures; ++i)
      bytes += std::string(5, static_cast<char>(10 * i)) + static_cast<char>(i);
    return bytes;
  }
  static std::string PngOf(uint8_t grey, int64_t side = 4) {
    Picture picture(side, side, 1);
    std::ranges::fill(picture.pixels, grey);
    return EncodePng(picture);
  }

  fs::path folder_ = testing::TempDir() + "pictures";
};

TEST_F(PictureSetTest, IdxPlainAndGzip) {
  const std::string labels = Numbers({0x801, 3}) + std::string("\2\0\1", 3);
  Write("t-images-idx3-ubyte", IdxBytes(3, 3));
  Write("t-labels-idx1-ubyte", labels);
  WriteGzip("z-images-idx3-ubyte.gz", IdxBytes(3, 3));
  WriteGzip("z-labels-idx1-ubyte.gz", labels);
  for (const char* name : {"t-images-idx3-ubyte", "z-images-idx3-ubyte.gz"}) {
    const auto set = OpenPictures({(folder_ / name).string()}, {.channels = 1});
    ASSERT_EQ(set->size(), 3);
    EXPECT_THAT(set->label_names(), ElementsAre("0", "1", "2"));
    EXPECT_EQ(set->label(0), 2);
    EXPECT_EQ(set->label(2), 1);
    const Picture picture = set->Get(2);
    EXPECT_EQ(picture.width, 3);
    EXPECT_EQ(picture.height, 2);
    EXPECT_THAT(picture.pixels, ElementsAre(20, 20, 20, 20, 20, 2));
    EXPECT_THAT(set->name(2), HasSubstr("picture 2"));
  }
  const auto colours = OpenPictures({(folder_ / "t-images-idx3-ubyte").string()},
                                    {.label_names = {"shirt", "shoe", "bag"}});
  EXPECT_EQ(colours->Get(1).pixels.size(), 18u);
  EXPECT_EQ(colours->label_names()[colours->label(0)], "bag");
}

TEST_F(PictureSetTest, IdxThatLiesIsRefused) {
  const std::string good = Write("images", IdxBytes(3, 3));
  const auto labels = [&](uint32_t claimed, int there) {
    return Write("labels", Numbers({0x801, claimed}) + std::string(there, '\1'));
  };
  const auto refusal = [&](const std::string& pictures, const std::string& label_file,
                           const PictureSetOptions& options = {}) {
    return SetRefusal([&] { OpenIdx(pictures, label_file, options); });
  };
  EXPECT_EQ(refusal(good, labels(3, 3)), "taken");
  EXPECT_THAT(refusal(good, labels(3, 2)),
              AllOf(HasSubstr("labels' has 10 bytes"), HasSubstr("expected 11 for its 3 labels")));
  EXPECT_THAT(refusal(good, labels(2, 2)), HasSubstr("has 2 labels, expected 3"));
  EXPECT_THAT(refusal(good, good), HasSubstr("begins with the number 2051, expected 2049"));
  EXPECT_THAT(refusal(Write("more", IdxBytes(4, 3)), ""), HasSubstr("34 bytes, expected 40"));
  EXPECT_THAT(refusal(Write("huge", IdxBytes(4294967295u, 3)), ""), HasSubstr("has 34 bytes"));
  EXPECT_THAT(refusal(Write("zero", IdxBytes(0, 0)), ""), HasSubstr("has no picture"));
  EXPECT_THAT(refusal(Write("short", "\0"), ""), HasSubstr("expected an IDX header"));
  EXPECT_THAT(refusal(Write("thin", Numbers({0x803, 1, 1, 100000}) + std::string(100000, 'x')), ""),
              HasSubstr("100000 x 1 pixels"));
  EXPECT_THAT(refusal(good, labels(3, 3), {.label_names = {"one"}}), HasSubstr("has the label 1"));
  EXPECT_THAT(refusal((folder_ / "gone").string(), ""), HasSubstr("can't open"));
}

TEST_F(PictureSetTest, GzipThatIsDamagedIsRefused) {
  const std::string path = WriteGzip("a-idx3-ubyte.gz", IdxBytes(3, 3));
  const std::string bytes = ReadFile(path);
  const auto refusal = [&] { return SetRefusal([&] { OpenIdx(path, "", {}); }); };
  EXPECT_EQ(refusal(), "taken");
  Write("a-idx3-ubyte.gz", bytes.substr(0, bytes.size() - 3));
  EXPECT_THAT(refusal(), HasSubstr("cut short"));
  Write("a-idx3-ubyte.gz", "plain");
  EXPECT_THAT(refusal(), HasSubstr("no gzip file"));
  Write("a-idx3-ubyte.gz", "");
  EXPECT_THAT(refusal(), HasSubstr("cut short"));
}

// 320 MiB that come out of a small file: one gzip member many times.
TEST_F(PictureSetTest, GzipThatIsLongerThanItSaysIsNotUnpacked) {
  const std::string zeros = ReadFile(WriteGzip("zeros.gz", std::string(size_t{1} << 24, '\0')));
  std::string many;
  for (int i = 0; i < 20; ++i) many += zeros;
  const auto after = [&](const std::string& name, const std::string& start) {
    return Write(name, ReadFile(WriteGzip(name, start)) + many);
  };
  const std::string pictures = after("b-images-idx3-ubyte.gz", IdxBytes(3, 3));
  const auto peak_mib = [] {
    struct rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  const int64_t before = peak_mib();
  EXPECT_THAT(SetRefusal([&] { OpenIdx(pictures, "", {}); }),
              AllOf(HasSubstr("b-images-idx3-ubyte.gz"), HasSubstr("more than 34 bytes")));
  const std::string labels = after("b-labels-idx1-ubyte.gz", Numbers({0x801, 3}) + "\1\1\1");
  EXPECT_THAT(SetRefusal([&] { OpenIdx(Write("images", IdxBytes(3, 3)), labels, {}); }),
              AllOf(HasSubstr("b-labels-idx1-ubyte.gz"), HasSubstr("more than 11 bytes")));
  EXPECT_LT(peak_mib() - before, 64);
  EXPECT_THAT(SetRefusal([&] { OpenCifar10({after("b.bin.gz", "")}, {}); }),
              AllOf(HasSubstr("b.bin.gz"), HasSubstr("more than 307300000 bytes")));
}

TEST_F(PictureSetTest, CifarRecords) {
  std::string record(3073, '\0');
  record[0] = '\7';
  record[1] = '\1';              // the first red
  record[1 + 1024 + 33] = '\2';  // a green of the second row
  record[3072] = '\3';           // the last blue
  const std::string one = Write("one.bin", record);
  const std::string two = WriteGzip("two.bin.gz", std::string(3073, '\0') + record);
  const auto set = OpenPictures({one, two}, {});
  ASSERT_EQ(set->size(), 3);
  EXPECT_EQ(set->label(0), 7);
  EXPECT_EQ(set->label(1), 0);
  EXPECT_EQ(set->label(2), 7);
  const Picture picture = set->Get(2);
  EXPECT_EQ(picture.row(0)[0], 1);
  EXPECT_EQ(picture.row(1)[3 + 1], 2);
  EXPECT_EQ(picture.row(31)[3 * 31 + 2], 3);
  EXPECT_THAT(set->name(2), HasSubstr("two.bin.gz, picture 1"));
  record[0] = '\12';
  Write("one.bin", record);
  EXPECT_THAT(SetRefusal([&] { OpenCifar10({one}, {}); }), HasSubstr("label 10 in record 0"));
  Write("one.bin", "abc");
  EXPECT_THAT(SetRefusal([&] { OpenCifar10({one}, {}); }), HasSubstr("has 3 bytes, expected"));
}

TEST_F(PictureSetTest, FolderOfClasses) {
  Write("set/shoes/b.PNG", PngOf(2));
  Write("set/shoes/deep/c.png", PngOf(3));
  Write("set/hats/a.png", PngOf(1));
  Write("set/hats/notes.txt", "no picture");
  for (const char* hidden : {"set/hats/.hidden", "set/hats/.trash/a.png", "set/.git/HEAD"})
    Write(hidden, "");
  Write("set/loose.png", PngOf(9));
  const std::string folder = (folder_ / "set").string();
  const auto set = OpenPictures({folder}, {.channels = 1});
  ASSERT_EQ(set->size(), 4);
  EXPECT_THAT(set->label_names(), ElementsAre("hats", "shoes"));
  EXPECT_EQ(set->Get(0).pixels[0], 1);
  EXPECT_THAT(SetRefusal([&] { set->Get(1); }),
              AllOf(HasSubstr("notes.txt"), HasSubstr("expected a PNG or JPEG file")));
  EXPECT_EQ(set->Get(2).pixels[0], 2);
  EXPECT_EQ(set->Get(3).pixels[0], 3);
  EXPECT_EQ(set->label(0), 0);
  EXPECT_EQ(set->label(3), 1);
  EXPECT_EQ(OpenPictures({folder}, {.label_names = {"x", "shoes", "hats"}})->label(0), 2);
  EXPECT_THAT(SetRefusal([&] { OpenPictures({folder}, {.label_names = {"hats"}}); }),
              AllOf(HasSubstr("b.PNG"), HasSubstr("'shoes' is not one of")));
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(SetRefusal([&] { OpenPictures({(folder_ / "empty").string()}, {}); }),
              HasSubstr("has no pictures"));
}

TEST_F(PictureSetTest, TablesOfPaths) {
  Write("data/pictures/a b.png", PngOf(5));
  Write("data/c.png", PngOf(6));
  const std::string table = Write("data/t.tsv", "pictures/a b.png\tred hat\r\n\nc.png\tblue\n" +
                                                    (folder_ / "data/c.png").string() + "\tblue");
  const auto set = OpenPictures({table}, {.channels = 1});
  ASSERT_EQ(set->size(), 3);
  EXPECT_THAT(set->label_names(), ElementsAre("blue", "red hat"));
  EXPECT_EQ(set->Get(0).pixels[0], 5);
  EXPECT_EQ(set->Get(2).pixels[0], 6);
  for (const char* bad : {"a.png", "a.png\t", "\tx", "a\tb\tc"}) {
    Write("data/t.tsv", std::string("c.png\tblue\n") + bad);
    EXPECT_THAT(SetRefusal([&] { OpenPictures({table}, {}); }),
                AllOf(HasSubstr("t.tsv:2: "), HasSubstr("expected a path, a tab and a label")));
  }
  Write("data/t.tsv", "");
  EXPECT_THAT(SetRefusal([&] { OpenPictures({table}, {}); }), HasSubstr("has no line"));
  EXPECT_THAT(SetRefusal([&] { OpenPictures({"pictures.zip"}, {}); }),
              HasSubstr("can't open 'pictures.zip': No such file"));
  const std::string archive = Write("pictures.zip", "PK");
  EXPECT_THAT(SetRefusal([&] { OpenPictures({archive}, {}); }),
              HasSubstr("pictures.zip' is no set of pictures"));
}

TEST_F(PictureSetTest, SurveyNamesAndCountsWhatIsDamaged) {
  Write("set/x/a.png", PngOf(0));
  Write("set/x/b.png", PngOf(51).substr(0, 40));
  Write("set/x/c.png", PngOf(102, 8));
  Write("set/y/d.jpg", "no JPEG");
  const auto set = OpenPictures({(folder_ / "set").string()}, {.channels = 1});
  PictureSurvey once;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const PictureSurvey survey = SurveyPictures(*set, &pool);
    EXPECT_THAT(survey.kept, ElementsAre(0, 2));
    ASSERT_EQ(survey.left_out.size(), 2u);
    EXPECT_EQ(survey.left_out[0].picture, 1);
    EXPECT_THAT(survey.left_out[0].reason, HasSubstr("b.png"));
    EXPECT_THAT(LeftOutMessage(survey), AllOf(HasSubstr("2 of 4 pictures are left out: "),
                                              HasSubstr("b.png"), HasSubstr("d.jpg")));
    // 16 pixels of 0 and 64 of 0.4.
    EXPECT_NEAR(survey.mean[0], 0.4 * 0.8, 1e-12);
    EXPECT_NEAR(survey.deviation[0], 0.4 * std::sqrt(0.8 * 0.2), 1e-12);
    EXPECT_EQ(survey.min_width, 4);
    EXPECT_EQ(survey.max_height, 8);
  }
  Write("set/x/a.png", "");
  Write("set/x/c.png", "");
  ThreadPool pool(2);
  EXPECT_THAT(SetRefusal([&] { SurveyPictures(*set, &pool); }),
              AllOf(HasSubstr("none of the 4 pictures can be read"), HasSubstr("a.png")));
}

TEST_F(PictureSetTest, FiveOfManyDamagedPicturesAreNamed) {
  Write("set/x/a.png", PngOf(0));
  for (const char* name : {"b", "c", "d", "e", "f", "g", "h"})
    Write(std::string("set/y/") + name + ".png", "");
  const auto set = OpenPictures({(folder_ / "set").string()}, {.channels = 1});
  ThreadPool pool(2);
  const std::string message = LeftOutMessage(SurveyPictures(*set, &pool));
  for (const char* name : {"b", "c", "d", "e", "f"})
    EXPECT_THAT(message, HasSubstr(std::string(name) + ".png"));
  EXPECT_THAT(message, AllOf(HasSubstr(" and 2 more"), Not(HasSubstr("g.png"))));
}

}  // namespace
}  // namespace attend
