// Pictures in training mixed with others, and their labels with them.
#ifndef ATTEND_MEDIA_MIXING_H_
#define ATTEND_MEDIA_MIXING_H_

#include <cstdint>
#include <span>

#include "base/fields.h"
#include "base/random.h"
#include "media/crop.h"
#include "media/picture.h"

namespace attend {

struct MixingOptions {
  double mixup = 0;   // alpha of mixup (Zhang et al. 2018); 0: none
  double cutmix = 0;  // alpha of CutMix (Yun et al. 2019); with both, either is as likely
};

FieldList Fields(MixingOptions& options);

// How one picture and its label are mixed with another.
struct Mixing {
  double own_share = 1;  // of the picture itself and of its label; the other has the rest
  Box box;               // CutMix: what comes from the other; empty in mixup
  bool cuts() const { return box.width > 0 && box.height > 0; }
};

// The share comes from Beta(alpha, alpha). In CutMix it is then what the box, cut at the edges,
// leaves. All follows from the generator, which the caller keys.
Mixing DrawMixing(const MixingOptions& options, int64_t width, int64_t height, Random* random);

// Of mixup: own = share * own + (1 - share) * other, number by number.
void MixInto(std::span<const float> other, double own_share, std::span<float> own);

// Of CutMix: the box comes from `other`. Precondition: both are of one shape.
void Paste(const Picture& other, const Box& box, Picture* picture);

// Of Beta(alpha, beta), both positive.
double DrawBeta(double alpha, double beta, Random* random);

}  // namespace attend

#endif  // ATTEND_MEDIA_MIXING_H_
