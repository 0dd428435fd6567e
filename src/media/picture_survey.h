// A look at every picture of a set before a training relies on it.
#ifndef ATTEND_MEDIA_PICTURE_SURVEY_H_
#define ATTEND_MEDIA_PICTURE_SURVEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "media/picture_set.h"

namespace attend {

struct LeftOutPicture {
  int64_t picture = 0;
  std::string reason;  // names the file
};

struct PictureSurvey {
  std::vector<int64_t> kept;  // rising
  std::vector<LeftOutPicture> left_out;
  // Over all pixels of the kept pictures, of 0 to 1, by channel. The same with any threads.
  std::vector<double> mean, deviation;
  std::string sha256;  // of the kept pictures' labels and pixels, in their order
  int64_t min_width = 0, max_width = 0, min_height = 0, max_height = 0;
};

// Decodes every picture, and holds none. Throws Error(kInput) with the first reason where none can
// be read.
PictureSurvey SurveyPictures(const PictureSet& pictures, ThreadPool* pool);

// "7 of 3000 pictures are left out: ..." with the first reasons, or empty.
std::string LeftOutMessage(const PictureSurvey& survey);

}  // namespace attend

#endif  // ATTEND_MEDIA_PICTURE_SURVEY_H_
