package mailhtml

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// drawTree draws nested elements that an HTML5 tree builder leaves as they are.
func drawTree(t *rapid.T, depth int) string {
	var b strings.Builder
	for range rapid.IntRange(0, 3).Draw(t, "children") {
		name := rapid.SampledFrom([]string{"div", "section", "article"}).Draw(t, "name")
		class := rapid.SampledFrom([]string{"", " class=a", " class='b a'", ` id=i lang="en"`, " class=C"}).Draw(t, "class")
		b.WriteString("<" + name + class + ">")
		if depth > 0 {
			b.WriteString(drawTree(t, depth-1))
		}
		b.WriteString("</" + name + ">")
	}
	return b.String()
}

// drawSelector draws a selector.
func drawSelector(t *rapid.T) string {
	part := rapid.SampledFrom([]string{
		"div", "*", ".a", ".b.a", "#i", "section.a", ".C", "[lang]", "[class~=a]", "[lang|=en]", ":first-child", "div:last-child",
		":nth-child(2n+1)", "article:nth-of-type(2)", ":only-child", ":not(.a)", "div:not([lang])", "SECTION", ":nth-last-child(2)",
	})
	s := part.Draw(t, "part")
	for range rapid.IntRange(0, 3).Draw(t, "more") {
		s += rapid.SampledFrom([]string{" ", ">", " + ", "~", "  >  "}).Draw(t, "combinator") + part.Draw(t, "part")
	}
	return s
}

// TestSelectorsMatchAsInATree compares the elements that selectors match with those that they
// match in the tree of an HTML5 tree builder.
func TestSelectorsMatchAsInATree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		selector, body := drawSelector(t), drawTree(t, 3)
		source := "<!doctype html><html><head><style>" + selector + "{a:b}</style></head><body>" + body + "</body></html>"
		root, err := html.Parse(strings.NewReader(source))
		if err != nil {
			t.Fatal(err)
		}
		matcher, err := cascadia.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && !unstyled[n.Data] {
				want = append(want, fmt.Sprint(n.Data, matcher.Match(n)))
			}
		}
		d := parse(source)
		if _, err := d.applyRules(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range d.elements {
			if !unstyled[e.name] {
				got = append(got, fmt.Sprint(e.name, len(e.style.merged) == 1))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n%s\n%v, want\n%v", selector, body, got, want)
		}
	})
}
