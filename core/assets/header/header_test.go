package header_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/assets/header"
)

// encoded returns an image of 3 by 2 pixels in each format that the standard library writes.
func encoded(t testing.TB) map[string][]byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	all := map[string][]byte{}
	for contentType, encode := range map[string]func(*bytes.Buffer) error{
		header.PNG:  func(b *bytes.Buffer) error { return png.Encode(b, picture) },
		header.JPEG: func(b *bytes.Buffer) error { return jpeg.Encode(b, picture, nil) },
		header.GIF:  func(b *bytes.Buffer) error { return gif.Encode(b, picture, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		all[contentType] = b.Bytes()
	}
	return all
}

// webp returns the beginning of a WebP image with a first chunk.
func webp(chunk, payload string) string {
	return "RIFF\x00\x00\x00\x00WEBP" + chunk + "\x00\x00\x00\x00" + payload
}

const svg = `<svg xmlns="http://www.w3.org/2000/svg" `

func TestRead(t *testing.T) {
	t.Parallel()
	for contentType, content := range encoded(t) {
		if got := header.Read(content); got != (header.Header{Type: contentType, Width: 3, Height: 2}) {
			t.Errorf("%s: %+v", contentType, got)
		}
	}
	// A thumbnail in the metadata of a JPEG is not the image; fill bytes before a marker are allowed.
	thumbnail := "\xff\xd8\xff\xe1\x00\x0e\xff\xc0\x00\x08\x08\x00\x01\x00\x01\x00\x00\x00\xff\xff\xc2\x00\x08\x08\x01\x00\x02\x00\x03"
	for content, want := range map[string]header.Header{
		thumbnail: {header.JPEG, 512, 256},
		"\xff\xd8\xff\xda\x00\x02\xff\xc0\x00\x08\x08\x00\x01\x00\x01":                                    {header.JPEG, 0, 0},
		"\xff\xd8\xff\xc4\x00\x08\x08\x00\x01\x00\x01":                                                    {header.JPEG, 0, 0},
		"\xff\xd8\xff\xe0\xff\xff":                                                                        {header.JPEG, 0, 0},
		"\xff\xd8\xff\xe0\x00\x01\xff\xc0\x00\x08\x08\x00\x01\x00\x01":                                    {header.JPEG, 0, 0},
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\xff\xff\xff\xff\x00\x00\x00\x01":                           {header.PNG, 0, 0},
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\xff\xff\x00\x00\x00\x01":                           {header.PNG, 65535, 1},
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIDAT\x00\x00\x00\x01\x00\x00\x00\x01":                           {header.PNG, 0, 0},
		"GIF89a\x00\x00\x01\x00":                                                                          {header.GIF, 0, 0},
		"GIF87a\x01":                                                                                      {header.GIF, 0, 0},
		webp("VP8 ", "\x00\x00\x00\x9d\x01\x2a\x2c\x41\x90\x40"):                                          {header.WebP, 300, 144},
		webp("VP8 ", "\x00\x00\x00\x00\x00\x00\x2c\x41\x90\x40"):                                          {header.WebP, 0, 0},
		webp("VP8L", "\x2f\x2b\xc1\x23\x00\x00\x00\x00\x00\x00"):                                          {header.WebP, 300, 144},
		webp("VP8L", "\x00\x2b\xc1\x23\x00\x00\x00\x00\x00\x00"):                                          {header.WebP, 0, 0},
		webp("VP8X", "\x00\x00\x00\x00\x2b\x01\x00\x8f\x00\x00"):                                          {header.WebP, 300, 144},
		webp("VP8X", "\x00"):                                                                              {header.WebP, 0, 0},
		svg + `width="40" height="20.5px"/>`:                                                              {header.SVG, 40, 21},
		"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- <svg> -->" + svg + `viewBox="0,0 40 20" width="100%">`: {header.SVG, 40, 20},
		`<!DOCTYPE svg [<!ENTITY big "1000000">]>` + svg + `width="&big;" height="1"/>`:                   {},
		svg + `width="1e9" height="-3" viewBox="0 0 NaN Inf">`:                                            {header.SVG, 0, 0},
		svg + `width="70000" height="10">`:                                                                {header.SVG, 0, 0},
		`<s:svg xmlns:s="http://www.w3.org/2000/svg" width="1" height="1"/>`:                              {header.SVG, 1, 1},
		`<svg width="1" height="1"/>`:                                                                     {},
		`<html><svg xmlns="http://www.w3.org/2000/svg"/></html>`:                                          {},
		"GIF89a is how a GIF begins" + svg:                                                                {header.GIF, 26912, 8307},
		"text " + svg + "/>":                                                                              {},
		"<!--" + strings.Repeat(" ", 65<<10) + "-->" + svg + "/>":                                         {},
		"": {},
	} {
		if got := header.Read([]byte(content)); got != want {
			t.Errorf("%.80q: %+v, want %+v", content, got, want)
		}
	}
}

// FuzzRead compares the sizes with those of the decoders of the standard library: if both read a size,
// it must be equal. Read must return sizes within its bounds for any content.
func FuzzRead(f *testing.F) {
	for _, content := range encoded(f) {
		f.Add(content)
		f.Add(content[:len(content)/2])
	}
	f.Add([]byte(webp("VP8X", "\x00\x00\x00\x00\x2b\x01\x00\x8f\x00\x00")))
	f.Add([]byte("<?xml version='1.0'?>" + svg + `viewBox="0 0 1 2">`))
	f.Fuzz(func(t *testing.T, content []byte) {
		h := header.Read(content)
		if h.Width < 0 || h.Width > 65535 || h.Height < 0 || h.Height > 65535 || (h.Width == 0) != (h.Height == 0) || h.Type == "" && h.Width > 0 {
			t.Fatalf("%+v", h)
		}
		config, format, err := image.DecodeConfig(bytes.NewReader(content))
		if err == nil && h.Width > 0 && "image/"+format == h.Type && (config.Width != h.Width || config.Height != h.Height) {
			t.Errorf("%+v, but %s has %d by %d", h, format, config.Width, config.Height)
		}
	})
}
