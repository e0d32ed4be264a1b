package objects

import "bytes"

// RasterHead is how many bytes of a file RasterType looks at.
const RasterHead = 16

// RasterType returns the content type of a raster image that browsers show: PNG, JPEG, GIF or
// WebP, none of which contains scripts. It returns "" for any other content. head is the
// beginning of the file, and decides alone; a name or a content type of a mail does not.
func RasterType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 14 && string(head[:4]) == "RIFF" && string(head[8:14]) == "WEBPVP":
		return "image/webp"
	}
	return ""
}
