// Package readme runs the README: it starts the demo as the README says, takes
// the commands out of the page and gives them to a shell in the order in which a
// reader would paste them. What the demo prints for pasting is the same text.
//
// The ports are the only thing it changes in a command, because those of the
// page may be in use. It owns no expectation about an operation beyond what the
// README promises in prose.
package readme

import (
	"fmt"
	"regexp"
	"strings"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// Blocks are the fenced blocks of a Markdown text in the given language, in order.
func Blocks(markdown, language string) []string {
	var found []string
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	return found
}

// defaultPorts are those of the page, in the order of the row that --port takes.
var defaultPorts = []int{8080, 8081, 8082, 8083}

// OnPorts is text with the default ports replaced by a row from first.
func OnPorts(text string, first int) string {
	var pairs []string
	for i, port := range defaultPorts {
		pairs = append(pairs, fmt.Sprintf("localhost:%d", port), fmt.Sprintf("localhost:%d", first+i))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
