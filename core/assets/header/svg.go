package header

import (
	"bytes"
	"encoding/xml"
	"math"
	"regexp"
	"strconv"
	"strings"
)

const (
	svgNamespace = "http://www.w3.org/2000/svg"
	// maxProlog is how many bytes are read up to the end of the first tag of an SVG image.
	maxProlog = 64 << 10
)

// readSVG returns the header of an SVG image in UTF-8: of a document whose first element is svg.
// Entities that the document defines are not expanded; an attribute with one is not read.
func readSVG(content []byte) Header {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	decoder := xml.NewDecoder(bytes.NewReader(content[:min(len(content), maxProlog)]))
	for {
		token, err := decoder.Token()
		if err != nil {
			return Header{}
		}
		switch token := token.(type) {
		case xml.CharData:
			if len(bytes.TrimSpace(token)) > 0 {
				return Header{}
			}
		case xml.StartElement:
			if token.Name.Local != "svg" || token.Name.Space != svgNamespace {
				return Header{}
			}
			width, height := sizeOfSVG(token.Attr)
			return Header{Type: SVG, Width: width, Height: height}
		}
	}
}

// sizeOfSVG returns the size from the attributes width and height, if both are in pixels, or from
// the viewBox, which has the proportions in any case.
func sizeOfSVG(attributes []xml.Attr) (width, height int) {
	by := map[string]string{}
	for _, a := range attributes {
		if a.Name.Space == "" {
			by[a.Name.Local] = a.Value
		}
	}
	width, height = pixels(strings.TrimSuffix(by["width"], "px")), pixels(strings.TrimSuffix(by["height"], "px"))
	if width > 0 && height > 0 {
		return width, height
	}
	box := strings.FieldsFunc(by["viewBox"], func(r rune) bool { return strings.ContainsRune(" ,\t\r\n", r) })
	if len(box) != 4 {
		return 0, 0
	}
	return pixels(box[2]), pixels(box[3])
}

var number = regexp.MustCompile(`^\+?[0-9]{0,9}(\.[0-9]{0,9})?$`)

// pixels returns a number of SVG, rounded up, or 0.
func pixels(text string) int {
	text = strings.TrimSpace(text)
	if !number.MatchString(text) {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return int(math.Ceil(n))
}
