// Labelled pictures for training and evaluation: the kinds of files that hold them, behind one
// interface.
#ifndef ATTEND_MEDIA_PICTURE_SET_H_
#define ATTEND_MEDIA_PICTURE_SET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "media/picture.h"
#include "media/picture_codec.h"

namespace attend {

struct PictureSetOptions {
  int64_t channels = 3;  // of every picture, whatever its file holds: 1 or 3
  PictureLimits limits;
  // The labels by number, as a trained model has them. Empty: those of the files, in order of their
  // bytes; of IDX and CIFAR-10 the numbers that they hold. For those two the names in their order.
  std::vector<std::string> label_names;
};

// Immutable; safe to use from many threads.
class PictureSet {
 public:
  virtual ~PictureSet() = default;
  virtual int64_t size() const = 0;
  // A number of label_names().
  virtual int64_t label(int64_t i) const = 0;
  // Throws Error(kInput) that names the file where picture `i` can't be read.
  virtual Picture Get(int64_t i) const = 0;
  // For messages: a file, or a file and a number that counts from 0.
  virtual std::string name(int64_t i) const = 0;

  const std::vector<std::string>& label_names() const { return label_names_; }

 protected:
  explicit PictureSet(std::vector<std::string> label_names)
      : label_names_(std::move(label_names)) {}

 private:
  std::vector<std::string> label_names_;
};

// Every function below throws Error(kInput) that names the file, what was found and what was
// expected: of a file that can't be read, one whose counts and length disagree, and a label that is
// not in `options.label_names`.

// IDX as MNIST has it: a file of pictures (magic 2051) and one of labels (2049), plain or .gz. With
// an empty `labels` every label is 0.
std::unique_ptr<PictureSet> OpenIdx(const std::string& pictures, const std::string& labels,
                                    const PictureSetOptions& options);

// CIFAR-10's binary files: records of a label and 3 x 32 x 32 bytes, plain or .gz.
std::unique_ptr<PictureSet> OpenCifar10(const std::vector<std::string>& files,
                                        const PictureSetOptions& options);

// A folder whose sub-folders are the labels; their files (.png, .jpg, .jpeg in any case, in folders
// below them too) are the pictures, each read when it is asked for.
std::unique_ptr<PictureSet> OpenPictureFolder(const std::string& folder,
                                              const PictureSetOptions& options);

// Tables of lines `path<TAB>label`; a path is relative to its table's folder. Each picture is read
// when it is asked for.
std::unique_ptr<PictureSet> OpenPictureTables(const std::vector<std::string>& tables,
                                              const PictureSetOptions& options);

// Whether OpenPictures may read them: all but single pictures.
bool ArePictureSets(const std::vector<std::string>& paths);

// Any of these, by name: a folder; files whose names end in .bin or .bin.gz (CIFAR-10) or in .tsv;
// or one file of IDX pictures (`...images-idx3-ubyte` or `...images.idx3-ubyte`, with .gz or not),
// whose labels are in the file beside it that has `labels` for `images` and `idx1` for `idx3`.
std::unique_ptr<PictureSet> OpenPictures(const std::vector<std::string>& paths,
                                         const PictureSetOptions& options);

}  // namespace attend

#endif  // ATTEND_MEDIA_PICTURE_SET_H_
