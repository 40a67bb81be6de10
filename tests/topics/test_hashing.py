"""The partition of a key is the one a producer in JavaScript computes."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from apps.topics.hashing import partition_for

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text())
COUNTS = (8, 256, 7)
SCRIPT = """
const partitionFor = (key, count) => {
  let hash = 2_166_136_261;
  for (let index = 0; index < key.length; index += 1) {
    hash ^= key.charCodeAt(index);
    hash = Math.imul(hash, 16_777_619);
  }
  return Math.abs(hash) % count;
};
const keys = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(keys.map((key) => [8, 256, 7].map((count) => partitionFor(key, count)))));
"""


@pytest.mark.parametrize("key, of_8, of_256, of_7", VECTORS)
def test_it_gives_the_partition_of_the_contract(key: str, of_8: int, of_256: int, of_7: int) -> None:
    assert [partition_for(key, count) for count in COUNTS] == [of_8, of_256, of_7]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed here: the vectors stand in")
def test_it_agrees_with_javascript_on_ten_thousand_random_keys() -> None:
    keys = ["", "\x00", "\uffff", *(random_key(random.Random(seed)) for seed in range(10_000))]
    told = subprocess.run(["node", "-e", SCRIPT], input=json.dumps(keys), capture_output=True, text=True, check=True)
    assert [[partition_for(key, count) for count in COUNTS] for key in keys] == json.loads(told.stdout)


def random_key(chance: random.Random) -> str:
    alphabet = chance.choice(["abc-0123456789", "äöüßéλЖ中", "😀👩🏽‍🚀a", "".join(map(chr, range(1, 0xD800, 97)))])
    return "".join(chance.choices(alphabet, k=chance.randrange(40)))
