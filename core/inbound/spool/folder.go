package spool

import (
	"crypto/rand"
	"strings"
)

// folderMark separates the id of a message from what makes its folder unique. No id has it.
const folderMark = "_"

// newFolder returns a folder for the objects of a message, different for each call.
func newFolder(messageID string) string {
	const unique = 8 // of 32 characters each
	return messageID + folderMark + strings.ToLower(rand.Text()[:unique])
}

// messageOf returns the id of the message to which an object belongs, or "" if the spool did not
// name its folder. Copies for further targets are in folders that begin with that of the message.
func messageOf(key string) string {
	_, rest, _ := strings.Cut(key, "/")
	folder, _, _ := strings.Cut(rest, "/")
	id, _, found := strings.Cut(folder, folderMark)
	if !found {
		return ""
	}
	return id
}
