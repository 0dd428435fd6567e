"""Models of pictures: the engine, attend.torch and transformers' Vision Transformer agree."""

import base64
import io
import json
import os
import subprocess
from xml.etree import ElementTree

import numpy
import pytest
import tiny_run

import attend

attend.convert = pytest.importorskip("attend.convert")
pytest.importorskip("safetensors")
torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")
import attend.torch  # noqa: E402
from transformers import ViTConfig, ViTForImageClassification, ViTModel  # noqa: E402

LABELS = ["cat", "dog", "owl"]


def vit(**more):
    torch.manual_seed(1)
    config = ViTConfig(
        hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64, image_size=24, patch_size=4, num_channels=3,
        id2label=dict(enumerate(LABELS)), **more)
    model = ViTForImageClassification(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    return model


@pytest.fixture(name="model", scope="module")
def a_vision_transformer():
    return vit()


MEAN, DEVIATION = [0.4, 0.5, 0.6], [0.5, 0.25, 0.5]


def saved(model, folder, **processor):
    """As transformers saves it, with the file that its ViTImageProcessor writes."""
    model.save_pretrained(folder)
    settings = {
        "do_normalize": True, "do_rescale": True, "do_resize": True, "image_mean": MEAN, "image_processor_type": "ViTImageProcessor",
        "image_std": DEVIATION, "resample": 2, "rescale_factor": 1 / 255, "size": {"height": 24, "width": 24}} | processor
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def logits_of(model, pixels):
    numbers = (torch.tensor(pixels) / 255 - torch.tensor(MEAN)) / torch.tensor(DEVIATION)
    with torch.no_grad():
        return model(pixel_values=numbers.permute(0, 3, 1, 2)).logits


@pytest.fixture(name="source", scope="module")
def as_transformers_saves_it(model, tmp_path_factory):
    return saved(model, tmp_path_factory.mktemp("vit") / "source")


@pytest.fixture(name="directory", scope="module")
def as_a_model_directory(source):
    attend.convert.convert(source, source.parent / "model")
    return source.parent / "model"


def pictures(count, size=(24, 24)):
    return numpy.random.default_rng(3).integers(0, 256, (count, *size, 3), dtype=numpy.uint8)


def as_png(picture):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def test_logits_are_those_of_transformers(model, directory):
    pixels = pictures(5)
    expected = logits_of(model, pixels)
    with torch.no_grad():
        ours = attend.torch.load(directory)
        found = ours(ours.patches(torch.tensor(pixels)))
    assert (found - expected).abs().max() < 1e-4
    classified = attend.Classifier(directory).classify_pictures([as_png(picture) for picture in pixels])
    for row, classes in zip(expected.softmax(-1), classified, strict=True):
        for label, probability in classes.classes:
            assert probability == pytest.approx(float(row[LABELS.index(label)]), abs=1e-4)


def test_files_of_any_size_by_path(directory, tmp_path):
    picture = pictures(1, (31, 50))[0]
    path = tmp_path / "photo.png"
    path.write_bytes(as_png(picture))
    small = numpy.asarray(Image.fromarray(picture).resize((24, 24), Image.Resampling.BILINEAR))
    classifier = attend.load(directory)
    assert classifier.reads_pictures
    by_path, by_bytes = classifier.classify_pictures([path, as_png(small)])
    assert by_path.classes == by_bytes.classes


def test_what_is_no_picture_is_named(directory, tmp_path):
    classifier = attend.Classifier(directory)
    (tmp_path / "text.jpg").write_bytes(b"no picture")
    with pytest.raises(attend.InputError, match=r"text\.jpg.*expected a PNG or JPEG"):
        classifier.classify_pictures([tmp_path / "text.jpg"])
    with pytest.raises(attend.InputError, match="picture 2"):
        classifier.classify_pictures([as_png(pictures(1)[0]), b"no picture"])
    with pytest.raises(attend.UsageError, match="reads pictures"):
        classifier.classify("a text")
    for one in ["text.jpg", b"no picture", tmp_path]:
        with pytest.raises(TypeError, match="put it in a list"):
            classifier.classify_pictures(one)
    with pytest.raises(TypeError, match="int"):
        classifier.classify_pictures([7])


def test_a_path_that_is_no_utf8(directory, tmp_path):
    path = os.path.join(os.fsencode(tmp_path), b"\xe9.png")
    with open(path, "wb") as file:
        file.write(as_png(pictures(1)[0]))
    by_path, by_bytes = attend.load(directory).classify_pictures([os.fsdecode(path), as_png(pictures(1)[0])])
    assert by_path.classes == by_bytes.classes
    with pytest.raises(attend.InputError, match="gone"):
        attend.load(directory).classify_pictures([os.fsdecode(path) + "gone"])


def test_import_says_what_it_found_and_verifies(source, tmp_path):
    command = [tiny_run.ATTEND, "import", source, "--output", tmp_path / "model", "--verify"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=tiny_run.environment())
    assert "found ViTForImageClassification" in told.stdout and "4 samples agree" in told.stdout
    subprocess.run([tiny_run.ATTEND, "verify", tmp_path / "model"], check=True, capture_output=True)


def test_variants_of_the_source(tmp_path):
    for more in ({"qkv_bias": False}, {"hidden_act": "gelu_new", "layer_norm_eps": 1e-6}):
        folder = tmp_path / "-".join(more)
        model = vit(**more)
        saved(model, folder, resample=3)
        attend.convert.convert(folder, folder / "model")
        pixels = pictures(3)
        expected = logits_of(model, pixels).softmax(-1)
        for row, found in zip(expected, attend.Classifier(folder / "model").classify_pictures(map(as_png, pixels)), strict=True):
            assert dict(found.classes)["owl"] == pytest.approx(float(row[2]), abs=1e-4)
    ViTModel(model.config).save_pretrained(tmp_path / "headless")
    converted = attend.convert.convert(tmp_path / "headless", tmp_path / "headless/model")
    assert converted.model["head"] == "none" and any("pooler" in part for part in converted.left_out)


def test_what_attend_lacks_is_named(source, tmp_path):
    for number, (name, key, value, expected) in enumerate([
        ("preprocessor_config.json", "resample", 0, "resample is 0"), ("preprocessor_config.json", "size", {"height": 8, "width": 8}, "size is"),
        ("preprocessor_config.json", "do_center_crop", True, "do_center_crop is"), ("config.json", "hidden_act", "tanh", "hidden_act is"),
        ("config.json", "image_size", "large", "image_size is"), ("config.json", "patch_size", 5, "multiple of patches.patch")]):
        folder = tmp_path / str(number)
        folder.mkdir()
        for file in source.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        (folder / name).write_text(json.dumps(json.loads((source / name).read_text(encoding="utf-8")) | {key: value}), encoding="utf-8")
        with pytest.raises(attend.InputError, match=expected):
            attend.convert.convert(folder, tmp_path / f"{number}.model")


def run(*arguments, stdin=None):
    return subprocess.run([tiny_run.ATTEND, *arguments], input=stdin, capture_output=True, text=True, check=False, env=tiny_run.environment())


def test_classify_by_command(directory, tmp_path):
    paths = [tmp_path / f"{i}.png" for i in range(3)]
    for path, picture in zip(paths, pictures(3), strict=True):
        path.write_bytes(as_png(picture))
    expected = [found.label for found in attend.Classifier(directory).classify_pictures(paths)]
    told = run("classify", "--model", directory, *paths)
    assert [line.split("\t")[0] for line in told.stdout.splitlines()] == expected
    paths.insert(1, tmp_path / "broken.png")
    paths[1].write_bytes(as_png(pictures(1)[0])[:-20])
    told = run("classify", "--model", directory, "--json", stdin="".join(f"{path}\n" for path in paths))
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert told.returncode == 0 and [line["picture"] for line in lines] == list(map(str, paths))
    assert "broken.png" in lines[1]["error"] and [line["classes"][0]["label"] for line in lines[:1] + lines[2:]] == expected
    assert "1 of 4 pictures could not be read" in told.stderr
    told = run("classify", "--model", directory, paths[1])
    assert told.returncode == 3 and "broken.png" in told.stderr


def test_other_commands_know_that_it_reads_pictures(directory, tmp_path):
    assert "pictures, 24 wide and 24 high, colour, in patches of 4 x 4, after a class token" in run("inspect", directory).stdout
    assert run("quantize", directory, "--output", tmp_path / "int8").returncode == 0
    assert run("verify", tmp_path / "int8").returncode == 0


def test_vectors_are_those_of_transformers(model, directory, tmp_path):
    pixels = pictures(3)
    numbers = (torch.tensor(pixels) / 255 - torch.tensor(MEAN)) / torch.tensor(DEVIATION)
    with torch.no_grad():
        hidden = model.vit(pixel_values=numbers.permute(0, 3, 1, 2)).last_hidden_state.numpy()
    encoder = attend.Encoder(directory)
    assert encoder.reads_pictures and encoder.width == 32
    files = [as_png(picture) for picture in pixels]
    numpy.testing.assert_allclose(encoder.embed_pictures(files, pooling="first"), hidden[:, 0], atol=1e-4)
    numpy.testing.assert_allclose(encoder.embed_pictures(files), hidden.mean(1), atol=1e-4)
    with pytest.raises(attend.UsageError, match="reads pictures"):
        encoder.embed("a text")
    paths = [tmp_path / f"{i}.png" for i in range(3)]
    for path, file in zip(paths, files, strict=True):
        path.write_bytes(file)
    paths[1].write_bytes(files[1][:-20])
    told = run("embed", "--model", directory, "--output", tmp_path / "vectors.npy", *paths)
    assert told.returncode == 0 and "1 of 3 pictures could not be read" in told.stderr
    found, wanted = numpy.load(tmp_path / "vectors.npy"), encoder.embed_pictures([files[0], files[2]])
    assert numpy.isnan(found[1]).all()
    numpy.testing.assert_array_equal(found[[0, 2]], wanted)
    lines = [json.loads(line) for line in run("embed", "--model", directory, *paths).stdout.splitlines()]
    assert [line["picture"] for line in lines] == list(map(str, paths)) and "1.png" in lines[1]["error"]
    numpy.testing.assert_array_equal(numpy.float32(lines[2]["embedding"]), wanted[1])


def test_attention_is_that_of_transformers(model, directory, tmp_path):
    pixels = pictures(1)[0]
    numbers = (torch.tensor(pixels)[None] / 255 - torch.tensor(MEAN)) / torch.tensor(DEVIATION)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        layers = model(pixel_values=numbers.permute(0, 3, 1, 2), output_attentions=True).attentions
    rollout = torch.eye(37)
    for weights_BHQK in layers:
        rollout = (weights_BHQK[0].mean(0) + torch.eye(37)) / 2 @ rollout
    (tmp_path / "a.png").write_bytes(as_png(pixels))
    for kind in ("json", "svg", "html"):
        told = run("attention", "--model", directory, "--picture", tmp_path / "a.png", "--output", tmp_path / f"a.{kind}")
        assert told.returncode == 0, told.stderr
    found = json.loads((tmp_path / "a.json").read_text())
    assert (found["rows"], found["columns"], found["name"]) == (6, 6, "a.png")
    numpy.testing.assert_allclose(found["heads"], [weights[0, :, 0, 1:].numpy() for weights in layers], atol=1e-5)
    numpy.testing.assert_allclose(found["rollout"], rollout[0, 1:].numpy(), atol=1e-5)
    seen = attend.load(directory).picture_attention(tmp_path / "a.png")
    assert seen.heads.shape == (3, 4, 6, 6) and seen.rollout.shape == (6, 6)
    numpy.testing.assert_array_equal(seen.heads.reshape(3, 4, 36), numpy.float32(found["heads"]))
    numpy.testing.assert_array_equal(seen.rollout.ravel(), numpy.float32(found["rollout"]))
    numpy.testing.assert_array_equal(attend.load(directory).picture_attention(as_png(pixels)).heads, seen.heads)
    kind, _, encoded = found["picture"].partition(",")
    assert kind == "data:image/png;base64"
    numpy.testing.assert_array_equal(numpy.asarray(Image.open(io.BytesIO(base64.b64decode(encoded)))), pixels)
    panels = ElementTree.parse(tmp_path / "a.svg").getroot().findall(".//*[@class='panel']")
    assert len(panels) == 2 + 4 and panels[2].find("{*}text").text == f"head 1, most {100 * max(found['heads'][2][0]):.1f} %"


def test_attention_refuses_what_it_cannot_draw(directory, tmp_path):
    (tmp_path / "a.png").write_bytes(as_png(pictures(1)[0]))
    for arguments, expected in [
            ([], "--picture is missing"), (["--source", "a"], "give --picture"), (["--picture", tmp_path / "none.png"], "none.png"),
            (["--picture", tmp_path / "a.png", "--layer", "4"], "layer is 4, expected 1 to 3")]:
        told = run("attention", "--model", directory, "--output", tmp_path / "a.svg", *arguments)
        assert told.returncode != 0 and expected in told.stderr, told.stderr
