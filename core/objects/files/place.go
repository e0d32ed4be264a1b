package files

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// place says where the file of an object is.
type place struct{ org, shard, name string }

// placeOf returns the place of the object with a valid key. The shard has two hexadecimal
// digits. It is a hash of the message's id, because ids of one day begin with the same
// digits.
func placeOf(key string) place {
	org, rest, _ := strings.Cut(key, "/")
	message, _, _ := strings.Cut(rest, "/")
	sum := sha256.Sum256([]byte(message))
	return place{org: org, shard: hex.EncodeToString(sum[:1]), name: strings.ReplaceAll(rest, "/", ",")}
}
