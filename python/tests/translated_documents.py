"""What the tests of documents share: a translator that knows which word became which."""

import attend
import pytest

etree = pytest.importorskip("lxml.etree")

LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'


class Stub:
    """A translator that knows which word became which."""

    def __init__(self, *, reverse=False, languages=()):
        self.reverse, self.languages, self.texts = reverse, languages, []

    def translate(self, texts, *, alignments):
        assert alignments
        self.texts += texts
        return [self.translation(text) for text in texts]

    def translation(self, text):
        words = text.upper().split()
        order = range(len(words))[::-1] if self.reverse else range(len(words))
        links = [(source, target) for target, source in enumerate(order)]
        return attend.Translation((attend.Hypothesis(" ".join(words[at] for at in order), 0, 0, [], True, links),))


def translated(source, *, reverse=False, languages=(), **options):
    """The path of the source's translation by a stub."""
    target = source.with_name(f"out-{source.name}")
    stub = Stub(reverse=reverse, languages=languages)
    attend.translate_file(stub, source, target, **options)
    assert [path.name for path in source.parent.iterdir() if path.name.startswith(target.name)] == [target.name]
    return target


def text_file(folder, name, content):
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return path


def translated_text(folder, name, content, **options):
    return translated(text_file(folder, name, content), **options).read_bytes().decode()


def without(content, *names):
    """Canonical XML without elements of these local names."""
    root = etree.fromstring(content)
    for node in [each for each in root.iter(etree.Element) if etree.QName(each).localname in names]:
        if node.getparent() is not None:
            node.getparent().remove(node)
    return etree.tostring(root, method="c14n")


def refused(path, kind, *words):
    with pytest.raises(kind) as error:
        translated(path)
    assert all(word in str(error.value) for word in words), error.value
    assert not [each for each in path.parent.iterdir() if each.name.startswith("out-")]
