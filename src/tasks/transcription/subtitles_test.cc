#include "tasks/transcription/subtitles.h"

#include <gmock/gmock.h>

namespace attend {
namespace {

TranscriptSegment Said(double begin, double end, const std::string& text) {
  TranscriptSegment segment{begin, end, {Hypothesis()}, {}};
  segment.hypotheses[0].text = text;
  return segment;
}

TEST(SubtitlesTest, LongSegmentsAreDividedBetweenWords) {
  const std::vector<TranscriptSegment> plain = {Said(1, 11, "a b c d"), Said(12, 13, "")};
  EXPECT_THAT(SubtitlesOf(plain), testing::ElementsAre(Subtitle{"a b c d", 1, 11}));
  std::vector<TranscriptSegment> timed = plain;
  timed[0].words = {{"a", 1, 4}, {"b", 4, 8}, {"c", 8, 8.5}, {"d", 9, 20}};
  timed.push_back(Said(20, 26, "e f"));
  timed[2].words = {{"e", 20, 21}, {"f", 22, 23}};
  EXPECT_THAT(SubtitlesOf(timed),
              testing::ElementsAre(Subtitle{"a b", 1, 8}, Subtitle{"c", 8, 8.5},
                                   Subtitle{"d", 9, 16}, Subtitle{"e f", 20, 26}));
}

TEST(SubtitlesTest, AreSrt) {
  const std::vector<Subtitle> subtitles = {{"one\n\ntwo", 0, 1.0004},
                                           {"<i> & -->", 3723.5, 3723.5}};
  EXPECT_EQ(ToSrt(subtitles),
            "1\n00:00:00,000 --> 00:00:01,000\none two\n\n"
            "2\n01:02:03,500 --> 01:02:03,501\n<i> & -->\n");
  EXPECT_EQ(ToSrt({}), "");
}

TEST(SubtitlesTest, AreWebVtt) {
  const std::vector<Subtitle> subtitles = {{"one", 0, 1}, {"<i> & -->", 360000, 360001}};
  EXPECT_EQ(ToVtt(subtitles),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\none\n\n"
            "100:00:00.000 --> 100:00:01.000\n&lt;i&gt; &amp; --&gt;\n");
  EXPECT_EQ(ToVtt({}), "WEBVTT\n");
}

}  // namespace
}  // namespace attend
