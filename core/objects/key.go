package objects

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Limits of keys. They fit every file system and every S3 server.
const (
	maxSegment = 64
	// maxPart is the maximum number of segments after the id of the message: 2 for
	// attachments/0.
	maxPart = 2
)

// RawKey returns the key of a raw message. orgID is the id of the organization, messageID
// identifies the message in the organization. [CheckKey] says which ids are valid; the store
// checks it.
func RawKey(orgID, messageID string) string { return orgID + "/" + messageID + "/raw.eml" }

// TextKey returns the key of the text body of a message.
func TextKey(orgID, messageID string) string { return orgID + "/" + messageID + "/text" }

// HTMLKey returns the key of the HTML body of a message.
func HTMLKey(orgID, messageID string) string { return orgID + "/" + messageID + "/html" }

// AttachmentKey returns the key of an attachment of a message. The first attachment has the
// index 0.
func AttachmentKey(orgID, messageID string, index int) string {
	return orgID + "/" + messageID + "/attachments/" + strconv.Itoa(index)
}

// assetPart is the name of the part that is the content of an image.
const assetPart = "asset"

// AssetKey returns the key of an image that mail shows. hash is the SHA-256 of its content in
// lower-case hexadecimal, which takes the place of the id of a message.
func AssetKey(orgID, hash string) string { return orgID + "/" + hash + "/" + assetPart }

// CheckKey returns an error if a key is not valid. A valid key has the id of an organization,
// the id of a message or the hash of an image, and the name of a part, which may have two
// segments, separated by slashes. The first segment is a UUID in lower case. Each other segment
// has 1 to 64 characters from a-z, 0-9, dot, hyphen and underscore, and begins with a letter or
// a digit.
// So a key is a relative path that names no folder above, on every file system.
func CheckKey(key string) error {
	segments := strings.Split(key, "/")
	if len(segments) < 3 || len(segments) > 2+maxPart {
		return fmt.Errorf("objects: the key %.300q has %d segments, not 3 or 4", key, len(segments))
	}
	for _, s := range segments {
		if !isSegment(s) {
			return fmt.Errorf("objects: the key %.300q has the segment %.100q, which is not valid", key, s)
		}
	}
	if !core.IsID(segments[0]) {
		return fmt.Errorf("objects: the key %.300q does not begin with the id of an organization", key)
	}
	return nil
}

// OrgOf returns the id of the organization in a valid key.
func OrgOf(key string) string {
	orgID, _, _ := strings.Cut(key, "/")
	return orgID
}

func isSegment(s string) bool {
	if s == "" || len(s) > maxSegment || !isAlphanumeric(s[0]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
