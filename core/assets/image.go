package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets/header"
)

// The limits of an image, in bytes.
const (
	MaxImage = 5 << 20
	maxPath  = 512
)

// The codes of faults.
const (
	FaultPath  = "invalid_image_path"
	FaultSize  = "invalid_image_size"
	FaultType  = "unsupported_image"
	FaultNamed = "image_type_mismatch"
)

// Fault is a reason why an image is not accepted. Message is a sentence.
type Fault struct{ Code, Message string }

// Image is the content of an image at a path.
type Image struct {
	Path    string
	Content []byte
	Origin  core.Origin
	// Branch is the branch of the connected repository, "" for bundles.
	Branch string
}

// format is a type of images with the endings of file names that it has. The first one is usual.
type format struct {
	contentType, name string
	endings           []string
}

// formats returns the types of images that are accepted.
func formats() []format {
	return []format{
		{header.PNG, "PNG", []string{".png"}},
		{header.JPEG, "JPEG", []string{".jpg", ".jpeg"}},
		{header.GIF, "GIF", []string{".gif"}},
		{header.WebP, "WebP", []string{".webp"}},
		{header.SVG, "SVG", []string{".svg"}},
	}
}

// endingOf returns the ending of a file name, in lower case.
func endingOf(name string) string { return strings.ToLower(path.Ext(name)) }

// HasEnding reports whether files of a content type may have names with the ending, such as ".png".
func HasEnding(contentType, ending string) bool {
	return slices.ContainsFunc(formats(), func(f format) bool { return f.contentType == contentType && slices.Contains(f.endings, ending) })
}

// Check returns what is wrong with an image, nothing if it is accepted. The content decides about
// the type; the ending of the name must agree with it, because the public address has that ending.
func Check(name string, content []byte) []Fault {
	var faults []Fault
	refuse := func(code, message string) { faults = append(faults, Fault{code, message}) }
	if name == "" || len(name) > maxPath || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		refuse(FaultPath, fmt.Sprintf("The path of the image must be 1 to %d bytes of UTF-8.", maxPath))
	}
	if len(content) == 0 || len(content) > MaxImage {
		refuse(FaultSize, fmt.Sprintf("The image has %d bytes; 1 to %d are allowed. Compress it or make it smaller.", len(content), MaxImage))
		return faults
	}
	contentType := header.Read(content).Type
	i := slices.IndexFunc(formats(), func(f format) bool { return f.contentType == contentType })
	switch {
	case i < 0:
		refuse(FaultType, "The file is not a PNG, JPEG, GIF, WebP or SVG image. Convert it to one of these types.")
	case !slices.Contains(formats()[i].endings, endingOf(name)):
		refuse(FaultNamed, "The file is a "+formats()[i].name+" image, so its name must end with "+strings.Join(formats()[i].endings, " or ")+". Rename it, and change the templates that show it.")
	}
	return faults
}

// Hash returns the hash of a content, by which it is stored: SHA-256 in lower-case hexadecimal.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
