package header

import (
	"bytes"
	"encoding/binary"

	"github.com/mailhelm/mailhelm/core/objects"
)

// The content types of images.
const (
	PNG  = "image/png"
	JPEG = "image/jpeg"
	GIF  = "image/gif"
	WebP = "image/webp"
	SVG  = "image/svg+xml"
)

// maxSide is the largest width or height that [Read] returns, in pixels. It is the limit of JPEG
// and GIF, and browsers show no larger images of the other types.
const maxSide = 1<<16 - 1

// Header is what the beginning of an image says.
type Header struct {
	// Type is a content type of this package, "" if the content is no image of these types.
	Type string
	// Width and Height are in pixels. Both are 0 if they cannot be read, and if one of them is
	// 0 or larger than 65,535.
	Width, Height int
}

// Read returns the header of an image.
func Read(content []byte) Header {
	h := Header{Type: objects.RasterType(content)}
	switch h.Type {
	case PNG:
		h.Width, h.Height = sizeOfPNG(content)
	case JPEG:
		h.Width, h.Height = sizeOfJPEG(content)
	case GIF:
		h.Width, h.Height = sizeOfGIF(content)
	case WebP:
		h.Width, h.Height = sizeOfWebP(content)
	default:
		h = readSVG(content)
	}
	if h.Width < 1 || h.Width > maxSide || h.Height < 1 || h.Height > maxSide {
		h.Width, h.Height = 0, 0
	}
	return h
}

// sizeOfPNG reads the chunk IHDR, which is the first one (PNG section 11.2.1).
func sizeOfPNG(content []byte) (width, height int) {
	if len(content) < 24 || string(content[12:16]) != "IHDR" {
		return 0, 0
	}
	return int(binary.BigEndian.Uint32(content[16:])), int(binary.BigEndian.Uint32(content[20:]))
}

// sizeOfGIF reads the size of the logical screen (GIF89a section 18).
func sizeOfGIF(content []byte) (width, height int) {
	if len(content) < 10 {
		return 0, 0
	}
	return int(binary.LittleEndian.Uint16(content[6:])), int(binary.LittleEndian.Uint16(content[8:]))
}

// sizeOfJPEG looks for the first frame header (ITU-T T.81 section B.2.2). It jumps from marker to
// marker, so that numbers in metadata, such as in embedded thumbnails, are not read.
func sizeOfJPEG(content []byte) (width, height int) {
	for rest := content[2:]; len(rest) >= 2 && rest[0] == 0xff; {
		marker := rest[1]
		switch {
		case marker == 0xff: // fill byte
			rest = rest[1:]
			continue
		case marker == 0x01, marker >= 0xd0 && marker <= 0xd7: // without a length
			rest = rest[2:]
			continue
		case marker == 0xd9, marker == 0xda: // end of the image, and its pixels
			return 0, 0
		case len(rest) < 4:
			return 0, 0
		}
		length := int(binary.BigEndian.Uint16(rest[2:]))
		if length < 2 || len(rest) < 2+length {
			return 0, 0
		}
		if isFrame(marker) {
			if length < 8 {
				return 0, 0
			}
			return int(binary.BigEndian.Uint16(rest[7:])), int(binary.BigEndian.Uint16(rest[5:]))
		}
		rest = rest[2+length:]
	}
	return 0, 0
}

// isFrame reports whether a marker of JPEG begins a frame header: SOF0 to SOF15. The marks 0xc4,
// 0xc8 and 0xcc, between them, have other meanings.
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

// sizeOfWebP reads the first chunk (RFC 9649 sections 2.5 to 2.7).
func sizeOfWebP(content []byte) (width, height int) {
	if len(content) < 30 {
		return 0, 0
	}
	switch string(content[12:16]) {
	case "VP8 ":
		if !bytes.Equal(content[23:26], []byte{0x9d, 0x01, 0x2a}) {
			return 0, 0
		}
		return int(binary.LittleEndian.Uint16(content[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(content[28:]) & 0x3fff)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(content[21:])
		if content[20] != 0x2f {
			return 0, 0
		}
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		return 1 + uint24(content[24:]), 1 + uint24(content[27:])
	default:
		return 0, 0
	}
}

// uint24 returns the number in the first three bytes, the lowest first.
func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
