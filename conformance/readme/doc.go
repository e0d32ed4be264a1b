// Package readme runs the README. It starts the demo as the README says and runs the
// commands of the page in a shell, in the order in which a reader would paste them. It
// also checks that the demo prints the same commands.
//
// It changes only the ports in a command, because those of the page may be in use. It
// owns no expectation about an operation beyond the text of the README.
package readme

import (
	"fmt"
	"regexp"
	"strings"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// Blocks returns the fenced blocks of a Markdown text in the given language, in order.
func Blocks(markdown, language string) []string {
	var found []string
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	return found
}

// defaultPorts are the ports on the page, in the order that --port uses.
var defaultPorts = []int{8080, 8081, 8082, 8083}

// OnPorts returns text with the default ports replaced by consecutive ones from first.
func OnPorts(text string, first int) string {
	var pairs []string
	for i, port := range defaultPorts {
		pairs = append(pairs, fmt.Sprintf("localhost:%d", port), fmt.Sprintf("localhost:%d", first+i))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
