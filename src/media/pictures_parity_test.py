"""Decoders and sizes of pictures against Pillow, pixel for pixel."""

import gzip
import io
import os
import pathlib
import struct
import subprocess
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

PROBE = pathlib.Path(os.environ["BUILD_DIR"]) / "tests" / "picture_probe"
DRAW = np.random.default_rng(1)


def run(*arguments, data=b""):
    done = subprocess.run([PROBE, *map(str, arguments)], input=data, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b"", "a library wrote to standard error"
    return done.stdout


def parse(output):
    """Raw pictures and messages, in order."""
    found = []
    while output:
        line, _, output = output.partition(b"\n")
        try:
            width, height, channels = map(int, line.split())
        except ValueError:
            found.append(line.decode())
            continue
        size = width * height * channels
        found.append(np.frombuffer(output[:size], np.uint8).reshape(height, width, channels))
        output = output[size:]
    return found


def decode(folder, files, channels):
    """Of bytes by name: what the decoder makes of each."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return dict(zip(files, parse(run("decode", channels, *[folder / name for name in files])), strict=True))


def by_pillow(data, channels):
    """What the header promises, of Pillow's parts."""
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    if image.mode.startswith("I;16"):  # Pillow would clip
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        alpha = image.convert("RGBA")
        image = Image.new("RGB", image.size, "white")
        image.paste(alpha.convert("RGB"), mask=alpha.getchannel("A"))
    image = image.convert("RGB" if channels == 3 else "L")
    return np.asarray(image).reshape(image.height, image.width, channels)


def smooth(width, height, channels=3):
    """A picture with edges and slopes, which a codec for photographs can hold."""
    y, x = np.mgrid[:height, :width]
    waves = [128 + 100 * np.sin(x / (3 + c) + y / (5 + 2 * c)) + 20 * (x > width / 2) for c in range(channels)]
    noise = DRAW.normal(0, 4, (height, width, channels))
    return np.clip(np.stack(waves, 2) + noise, 0, 255).astype(np.uint8)


def image_of(pixels):
    return Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)


def saved(image, format_name, **options):
    stream = io.BytesIO()
    image.save(stream, format_name, **options)
    return stream.getvalue()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png_of(samples, depth, colour, interlaced=False, extra=b""):
    """A PNG file of samples [height, width, channels], written by the format's description."""
    height, width, _ = samples.shape

    def lines(part):
        out = b""
        for row in part:
            if depth == 16:
                data = row.astype(">u2").tobytes()
            else:
                bits = np.unpackbits(row.reshape(-1, 1).astype(np.uint8), axis=1)[:, 8 - depth :]
                data = np.packbits(bits.reshape(-1)).tobytes()
            out += b"\0" + data
        return out

    parts = [samples[y::dy, x::dx] for x, y, dx, dy in PASSES] if interlaced else [samples]
    data = b"".join(lines(part) for part in parts if part.size)
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def png_files():
    palette = chunk(b"PLTE", DRAW.integers(0, 256, 48, dtype=np.uint8).tobytes())
    files = {}
    for width, height in ((1, 1), (13, 9), (40, 33)):
        for interlaced in (False, True):
            for colour, channels, depths in ((0, 1, (1, 2, 4, 8, 16)), (2, 3, (8, 16)), (3, 1, (1, 2, 4)), (4, 2, (8, 16)), (6, 4, (8, 16))):
                for depth in depths:
                    samples = DRAW.integers(0, 1 << depth, (height, width, channels))
                    extra = palette if colour == 3 else b""
                    name = f"{width}-{colour}-{depth}-{interlaced}.png"
                    files[name] = png_of(samples, depth, colour, interlaced, extra)
    grey = DRAW.integers(0, 4, (9, 13, 1)) * 60
    files["key-grey.png"] = png_of(grey, 8, 0, extra=chunk(b"tRNS", struct.pack(">H", 120)))
    files["key-colour.png"] = png_of(np.repeat(grey, 3, 2), 8, 2, extra=chunk(b"tRNS", struct.pack(">HHH", 60, 60, 60)))
    alphas = chunk(b"tRNS", bytes([0, 40, 128, 200, 255]))
    files["palette-alpha.png"] = png_of(DRAW.integers(0, 16, (9, 13, 1)), 4, 3, extra=palette + alphas)
    files["gamma.png"] = png_of(grey, 8, 0, extra=chunk(b"gAMA", struct.pack(">I", 20000)))
    return files


@pytest.mark.parametrize("channels", [1, 3])
def test_png_files_of_every_kind(tmp_path, channels):
    files = png_files()
    for name, picture in decode(tmp_path, files, channels).items():
        expected = by_pillow(files[name], channels)
        assert not isinstance(picture, str), picture
        assert np.array_equal(picture, expected), name


def jpeg_files():
    files = {}
    for width, height in ((1, 1), (17, 23), (64, 48), (121, 90)):
        pixels = smooth(width, height)
        for subsampling in (0, 1, 2):
            for progressive in (False, True):
                options = {"quality": 85, "subsampling": subsampling, "progressive": progressive}
                files[f"{width}-{subsampling}-{progressive}.jpg"] = saved(Image.fromarray(pixels), "JPEG", **options)
        files[f"{width}-grey.jpg"] = saved(Image.fromarray(pixels[:, :, 0]), "JPEG")
        files[f"{width}-cmyk.jpg"] = saved(Image.fromarray(pixels).convert("CMYK"), "JPEG")
        files[f"{width}-restarts.jpg"] = saved(Image.fromarray(pixels), "JPEG", restart_marker_rows=1)
    inks = files["64-cmyk.jpg"]
    adobe = inks.index(b"Adobe") + 11
    files["ycck.jpg"] = inks[:adobe] + b"\2" + inks[adobe + 1 :]
    return files


@pytest.mark.parametrize("channels", [1, 3])
def test_jpeg_files_of_every_kind(tmp_path, channels):
    files = jpeg_files()
    for name, picture in decode(tmp_path, files, channels).items():
        expected = by_pillow(files[name], channels)
        assert not isinstance(picture, str), picture
        assert np.array_equal(picture, expected), (name, np.abs(picture.astype(int) - expected).max())


def test_every_orientation(tmp_path):
    files = {}
    for orientation in range(10):
        for order in "<>":
            exif = Image.Exif()
            exif.endian = order
            exif[0x0112] = orientation
            exif[0x010F] = "a maker"
            for kind in ("PNG", "JPEG"):
                files[f"{orientation}{order}.{kind}"] = saved(Image.fromarray(smooth(20, 12)), kind, exif=exif)
    for name, picture in decode(tmp_path, files, 3).items():
        assert np.array_equal(picture, by_pillow(files[name], 3)), name
    assert decode(tmp_path, files, 3)["6<.PNG"].shape == (20, 12, 3)


def raw(pixels):
    height, width, channels = pixels.shape
    return f"{width} {height} {channels}\n".encode() + pixels.tobytes()


def changes(cases):
    """Of pairs of pixels and a change's words: the pixels, changed."""
    lines = [" ".join(map(str, words)).encode() + b"\n" + raw(pixels) for pixels, words in cases]
    return parse(run("change", data=b"".join(lines)))


def change(pixels, *words):
    return changes([(pixels, words)])[0]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("method", ["bilinear", "bicubic"])
def test_sizes_equal_pillow(method, channels):
    resample = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}[method]
    pictures = [DRAW.integers(0, 256, (height, width, channels), dtype=np.uint8) for width, height in ((31, 17), (64, 64), (1, 5), (200, 3))]
    cases = [(pixels, target) for pixels in pictures for target in ((31, 17), (8, 8), (5, 90), (100, 64), (1, 1))]
    found = changes([(pixels, ("resize", *target, method)) for pixels, target in cases])
    for (pixels, target), picture in zip(cases, found, strict=True):
        expected = np.asarray(image_of(pixels).resize(target, resample)).reshape(target[1], target[0], channels)
        assert np.array_equal(picture, expected), (pixels.shape, target)


def test_shorter_side_and_centre():
    for width, height in ((50, 31), (31, 50), (40, 40)):
        pixels = smooth(width, height)
        picture = change(pixels, "shorter", 24, "bilinear")
        size = (24, 24 * height // width) if width <= height else (24 * width // height, 24)
        expected = np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR))
        assert np.array_equal(picture, expected)
        for side in (16, 21, 31):
            left, top = round((width - side) / 2), round((height - side) / 2)
            assert np.array_equal(change(pixels, "centre", side, side), pixels[top : top + side, left : left + side])
    assert np.array_equal(change(smooth(5, 3), "centre", 8, 8).nonzero()[0].min(), 2)


def sheared(image, matrix):
    return image.transform(image.size, Image.Transform.AFFINE, matrix, Image.Resampling.NEAREST)


# As torchvision's RandAugment calls Pillow, in the order of PictureChange.
CHANGES = [
    lambda image, value: image,
    lambda image, value: sheared(image, (1, value, 0, 0, 1, 0)),
    lambda image, value: sheared(image, (1, 0, 0, value, 1, 0)),
    lambda image, value: sheared(image, (1, 0, -int(value), 0, 1, 0)),
    lambda image, value: sheared(image, (1, 0, 0, 0, 1, -int(value))),
    lambda image, value: image.rotate(value),
    lambda image, value: ImageEnhance.Brightness(image).enhance(1 + value),
    lambda image, value: ImageEnhance.Color(image).enhance(1 + value),
    lambda image, value: ImageEnhance.Contrast(image).enhance(1 + value),
    lambda image, value: ImageEnhance.Sharpness(image).enhance(1 + value),
    lambda image, value: ImageOps.posterize(image, int(value)),
    ImageOps.solarize,
    lambda image, value: ImageOps.autocontrast(image),
    lambda image, value: ImageOps.equalize(image),
]


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("number", range(14))
def test_changes_of_rand_augment_equal_pillow(number, channels):
    values = {3: [-5.7, 3], 4: [-2, 6.2], 5: [-30, -7.3, 12, 90, 180], 10: [4, 7, 8], 11: [0, 100.5, 255]}
    pictures = [smooth(33, 20, channels), DRAW.integers(60, 180, (14, 15, channels), dtype=np.uint8), np.full((3, 3, channels), 9, np.uint8)]
    noise = DRAW.integers(0, 256, (300, 400, channels), dtype=np.uint8)
    pictures += [np.where(noise > 100, 255, noise)[:40, :40].copy(), noise]
    cases = [(pixels, value) for pixels in pictures for value in values.get(number, [-0.9, -0.27, 0, 0.13, 0.27])]
    found = changes([(pixels, ("change", number, value)) for pixels, value in cases])
    for (pixels, value), picture in zip(cases, found, strict=True):
        expected = np.asarray(CHANGES[number](image_of(pixels), value)).reshape(pixels.shape)
        assert np.array_equal(picture, expected), value


def test_strengths_are_those_of_torchvision():
    for magnitude in (0, 9, 30):
        part = np.float64(magnitude) / 30
        shear, blend = 0.3 * part, 0.9 * part
        expected = [0, shear, shear, 150 / 331 * 40 * part, 150 / 331 * 20 * part, 30 * part, blend, blend, blend, blend]
        expected += [8 - round(magnitude / (30 / 4)), 255 - 255 * part, 0, 0]
        found = [float(line) for line in run("values", magnitude, 40, 20).split()]
        assert found == pytest.approx(expected)


def test_grey_and_written_pictures():
    pixels = smooth(31, 9)
    assert np.array_equal(change(pixels, "channels", 1)[:, :, 0], np.asarray(Image.fromarray(pixels).convert("L")))
    for each in (pixels, pixels[:, :, :1]):
        assert np.array_equal(change(each, "png"), each)


def test_damaged_files_are_named_and_pillow_agrees(tmp_path):
    good = {"cut.png": saved(Image.fromarray(smooth(40, 30)), "PNG"), "cut.jpg": saved(Image.fromarray(smooth(40, 30)), "JPEG"),
            "cut-progressive.jpg": saved(Image.fromarray(smooth(40, 30)), "JPEG", progressive=True)}
    files = {f"{length}-{name}": data[:length] for name, data in good.items() for length in range(0, len(data), 37)}
    for name, message in decode(tmp_path, files, 3).items():
        assert isinstance(message, str) and name in message, name


@pytest.fixture(name="data")
def find_data():
    if not os.environ.get("ATTEND_DATA"):
        pytest.skip("ATTEND_DATA names no folder of corpora")
    return pathlib.Path(os.environ["ATTEND_DATA"])


def check_set(found, pixels, labels):
    """What the probe says of a set, whose pictures [N, height, width, channels] NumPy has read."""
    size, names, mean, deviation, sides, left_out, *each = found.decode().split("\n")[:-1]
    assert int(size) == len(pixels) == len(labels) and names.split() == [str(label) for label in range(10)]
    channels = pixels.astype(np.float64) / 255
    assert [float(number) for number in mean.split()] == pytest.approx(channels.mean((0, 1, 2)))
    assert [float(number) for number in deviation.split()] == pytest.approx(channels.std((0, 1, 2)))
    height, width = pixels.shape[1:3]
    assert sides == f"{width} {width} {height} {height}" and left_out == ""
    assert each == [f"{labels[i]} {zlib.crc32(pixels[i].tobytes())}" for i in range(0, len(pixels), 1000)]


@pytest.mark.parametrize("corpus", ["mnist", "fashion-mnist"])
def test_idx_of_real_data(data, corpus):
    pictures = data / corpus / "t10k-images-idx3-ubyte.gz"
    pixels = np.frombuffer(gzip.decompress(pictures.read_bytes()), np.uint8)[16:].reshape(-1, 28, 28, 1)
    labels = np.frombuffer(gzip.decompress((data / corpus / "t10k-labels-idx1-ubyte.gz").read_bytes()), np.uint8)[8:]
    check_set(run("set", 1, pictures), pixels, labels)


def test_cifar_of_real_data(data):
    files = [data / "cifar10-subset" / name for name in ("cifar10_train_5000.bin.gz", "cifar10_test_1000.bin.gz")]
    records = np.concatenate([np.frombuffer(gzip.decompress(file.read_bytes()), np.uint8) for file in files]).reshape(-1, 3073)
    check_set(run("set", 3, *files), records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, 0])


def test_jpeg_files_of_real_data(tmp_path, data):
    with zipfile.ZipFile(data / "clothing-cc0/images.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".jpg")][::40]
        files = {name.replace("/", "-"): archive.read(name) for name in names}
    assert len(files) > 50
    for name, picture in decode(tmp_path, files, 3).items():
        assert np.array_equal(picture, by_pillow(files[name], 3)), name
