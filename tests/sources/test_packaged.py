"""What ships with gomem beside its code is there."""

from gomem.sources.packaged import packaged


def test_the_demo_and_the_notebooks_are_there():
    assert packaged("demo").is_dir()
    assert packaged("notebooks").is_dir()
