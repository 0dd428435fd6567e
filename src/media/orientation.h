// Which way up a picture is (Exif 2.32, tag 0x0112).
#ifndef ATTEND_MEDIA_ORIENTATION_H_
#define ATTEND_MEDIA_ORIENTATION_H_

#include <string_view>

#include "media/picture.h"

namespace attend {

// Of EXIF data, with or without "Exif\0\0" before it: 1 to 8, where 1 is upright; 1 too where none
// is told.
int OrientationOf(std::string_view exif);

// The picture as it is meant to be seen.
Picture Upright(Picture picture, int orientation);

}  // namespace attend

#endif  // ATTEND_MEDIA_ORIENTATION_H_
