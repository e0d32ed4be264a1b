// Package readme tests the commands in README.md. It starts the demo and runs the commands
// in a shell, in the order of the page. It also checks that the demo prints the same
// commands.
//
// It replaces only the ports in a command, because the default ports may be in use. It
// checks of each output only what the README promises.
package readme

import (
	"fmt"
	"regexp"
	"strings"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// Blocks returns the contents of the fenced code blocks of a Markdown text that have the
// given language, in order.
func Blocks(markdown, language string) []string {
	var found []string
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	return found
}

// defaultPorts are the ports of the demo's addresses in the README. `mailhelm demo --port
// N` uses N and the ports after it, in the same order.
var defaultPorts = []int{8080, 8081, 8082, 8083}

// OnPorts returns text with the default ports of localhost replaced by first and the three
// ports after it.
func OnPorts(text string, first int) string {
	var pairs []string
	for i, port := range defaultPorts {
		pairs = append(pairs, fmt.Sprintf("localhost:%d", port), fmt.Sprintf("localhost:%d", first+i))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
