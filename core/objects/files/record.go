package files

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
)

const (
	// blockBytes is the unit in which file systems free space. Records begin at multiples of it.
	blockBytes = 4096
	// maxPacked is the size of the largest object that is kept in a pack.
	maxPacked = 256 << 10
	// recordHead is the size of the header of a record without the key: the checksum (4 bytes),
	// the time in seconds of the Unix epoch (8), the size of the content (4) and that of the key (2).
	recordHead = 4 + 8 + 4 + 2
	// locatorMark separates the parts of a locator. No name of a part of a message has it.
	locatorMark = "_"
	// packName is the length of the name of a pack, which has only packLetters.
	packName    = 16
	packLetters = "abcdefghijklmnopqrstuvwxyz234567"
)

// record is what the header of a record says: the key that the object was stored with, when, and
// how many bytes it has.
type record struct {
	key    string
	stored time.Time
	size   int64
}

// contentAt returns where the content begins in the record.
func (r record) contentAt() int64 { return recordHead + int64(len(r.key)) }

// length returns the size of the record on disk, in whole blocks.
func (r record) length() int64 { return blocks(r.contentAt() + r.size) }

// blocks returns a number of bytes, rounded up to whole blocks.
func blocks(n int64) int64 { return (n + blockBytes - 1) / blockBytes * blockBytes }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum of a header. The nonce of the pack is part of it, so that no
// mail can contain a block that is taken for a header.
func checksum(nonce, head []byte) uint32 {
	return crc32.Update(crc32.Checksum(nonce, castagnoli), castagnoli, head)
}

// appendRecord appends a record to b.
func appendRecord(b, nonce []byte, r record, content []byte) []byte {
	begin := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(r.stored.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(len(content)))
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.key)))
	b = append(b, r.key...)
	binary.BigEndian.PutUint32(b[begin:], checksum(nonce, b[begin+4:]))
	return append(b, content...)
}

// parseRecord reads the header at the beginning of a block. It returns false if there is none.
func parseRecord(block, nonce []byte) (record, bool) {
	if len(block) < recordHead {
		return record{}, false
	}
	end := recordHead + int(binary.BigEndian.Uint16(block[16:]))
	if len(block) < end || binary.BigEndian.Uint32(block) != checksum(nonce, block[4:end]) {
		return record{}, false
	}
	return record{
		key: string(block[recordHead:end]), stored: time.Unix(int64(binary.BigEndian.Uint64(block[4:])), 0), size: int64(binary.BigEndian.Uint32(block[12:])),
	}, true
}

// locator says in which pack an object is, and where its record begins.
type locator struct {
	pack   string
	offset int64
}

// locate returns the key under which an object in a pack is found.
func locate(key string, l locator) string {
	return fmt.Sprintf("%s%s%s%s%x", key, locatorMark, l.pack, locatorMark, l.offset)
}

// located returns the key that an object was stored with, and where it is. It returns false for
// the key of an object that has a file of its own.
func located(key string) (stored string, l locator, ok bool) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	parts := strings.Split(name, locatorMark)
	if len(parts) != 3 || len(parts[1]) != packName || strings.Trim(parts[1], packLetters) != "" {
		return "", locator{}, false
	}
	offset, err := strconv.ParseInt(parts[2], 16, 64)
	if err != nil || offset <= 0 || offset%blockBytes != 0 {
		return "", locator{}, false
	}
	return strings.TrimSuffix(key, name[len(parts[0]):]), locator{parts[1], offset}, true
}
