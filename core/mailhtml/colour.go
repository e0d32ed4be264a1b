package mailhtml

import (
	"math"
	"strconv"
	"strings"
)

// colour is a colour that does not depend on data, without transparency.
type colour struct{ red, green, blue uint8 }

var (
	black = colour{}
	white = colour{255, 255, 255}
)

// namedColours has the frequent colour names of CSS. Others are not checked.
var namedColours = map[string]string{
	"black": "000000", "silver": "c0c0c0", "gray": "808080", "grey": "808080", "white": "ffffff", "maroon": "800000",
	"red": "ff0000", "purple": "800080", "fuchsia": "ff00ff", "magenta": "ff00ff", "green": "008000", "lime": "00ff00",
	"olive": "808000", "yellow": "ffff00", "navy": "000080", "blue": "0000ff", "teal": "008080", "aqua": "00ffff",
	"cyan": "00ffff", "orange": "ffa500", "pink": "ffc0cb", "gold": "ffd700", "tomato": "ff6347", "coral": "ff7f50",
	"lightgray": "d3d3d3", "lightgrey": "d3d3d3", "darkgray": "a9a9a9", "darkgrey": "a9a9a9", "dimgray": "696969",
	"dimgrey": "696969", "gainsboro": "dcdcdc", "whitesmoke": "f5f5f5", "beige": "f5f5dc", "ivory": "fffff0",
	"darkred": "8b0000", "darkgreen": "006400", "darkblue": "00008b", "lightblue": "add8e6", "skyblue": "87ceeb",
}

// parseColour returns the colour in the value of a CSS property or of an attribute. It
// returns false for what is not such a colour, for example one with a Handlebars tag.
func parseColour(value string) (colour, bool) {
	value = lowerASCII(strings.TrimSpace(value))
	if digits, ok := namedColours[value]; ok {
		return hexColour(digits)
	}
	if digits, ok := strings.CutPrefix(value, "#"); ok {
		return hexColour(digits)
	}
	arguments, ok := strings.CutPrefix(value, "rgb(")
	if !ok {
		return colour{}, false
	}
	parts := strings.FieldsFunc(strings.TrimSuffix(arguments, ")"), func(r rune) bool { return r == ',' || r == ' ' })
	if len(parts) != 3 {
		return colour{}, false
	}
	var numbers [3]uint8
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return colour{}, false
		}
		numbers[i] = uint8(n)
	}
	return colour{numbers[0], numbers[1], numbers[2]}, true
}

// hexColour returns the colour with three or six hexadecimal digits.
func hexColour(digits string) (colour, bool) {
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		return colour{}, false
	}
	return colour{uint8(n >> 16), uint8(n >> 8), uint8(n)}, true
}

// luminance returns the relative luminance (WCAG 2.2, "relative luminance").
func (c colour) luminance() float64 {
	channel := func(value uint8) float64 {
		share := float64(value) / 255
		if share <= 0.04045 {
			return share / 12.92
		}
		return math.Pow((share+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(c.red) + 0.7152*channel(c.green) + 0.0722*channel(c.blue)
}

// contrast returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2, "contrast
// ratio").
func contrast(a, b colour) float64 {
	lighter, darker := a.luminance(), b.luminance()
	if lighter < darker {
		lighter, darker = darker, lighter
	}
	return (lighter + 0.05) / (darker + 0.05)
}

// String returns the colour as #rrggbb.
func (c colour) String() string {
	const digits = "0123456789abcdef"
	b := []byte{'#'}
	for _, v := range []uint8{c.red, c.green, c.blue} {
		b = append(b, digits[v>>4], digits[v&15])
	}
	return string(b)
}
