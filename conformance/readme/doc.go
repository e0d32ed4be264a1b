// Package readme tests the commands in README.md. It starts the demo and runs the commands
// in a shell, in the order in which the README has them. It also checks that the demo
// prints the same commands.
//
// The commands run unchanged except for their ports, because the default ports may be in
// use. The output must contain what the README says about it; the rest is not checked.
package readme

import (
	"fmt"
	"regexp"
	"strings"
)

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// Blocks returns the contents of those fenced code blocks in a Markdown text that have the
// given language, in their order.
func Blocks(markdown, language string) []string {
	var found []string
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		if m[1] == language {
			found = append(found, m[2])
		}
	}
	return found
}

// defaultPorts are the ports of the demo in the README. With `--port N` the demo uses N
// instead of the first, and the numbers after N instead of the others.
var defaultPorts = []int{8080, 8081, 8082, 8083, 2525}

// OnPorts returns the text with the demo's default ports replaced. Port 8080 is
// replaced by first, and the other ports by the numbers after first.
func OnPorts(text string, first int) string {
	var pairs []string
	for i, port := range defaultPorts {
		pairs = append(pairs, fmt.Sprintf("localhost:%d", port), fmt.Sprintf("localhost:%d", first+i))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
