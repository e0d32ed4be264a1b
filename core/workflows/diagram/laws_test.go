package diagram_test

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/workflows/diagram"
	"github.com/mailhelm/mailhelm/core/workflows/language"
	"github.com/mailhelm/mailhelm/core/workflows/language/languagetest"
	"pgregory.net/rapid"
)

// rectangle is a rectangle of a drawing.
type rectangle struct {
	class               string
	x, y, width, height int
}

func (r rectangle) overlaps(other rectangle) bool {
	return r.x < other.x+other.width && other.x < r.x+r.width && r.y < other.y+other.height && other.y < r.y+r.height
}

// drawing is what the tests read from a drawing.
type drawing struct {
	width, height int
	rectangles    []rectangle
	paths, texts  []string
	elements      map[string]int
}

// read parses a drawing as XML.
func read(svg string) (drawing, error) {
	d := drawing{elements: map[string]int{}}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return d, err
		}
		switch token := token.(type) {
		case xml.CharData:
			d.texts = append(d.texts, string(token))
		case xml.StartElement:
			d.elements[token.Name.Local]++
			d.element(token)
		}
	}
}

func (d *drawing) element(start xml.StartElement) {
	attributes := map[string]string{}
	numbers := map[string]int{}
	for _, a := range start.Attr {
		attributes[a.Name.Local] = a.Value
		if n, err := strconv.Atoi(a.Value); err == nil {
			numbers[a.Name.Local] = n
		}
	}
	if path := attributes["data-path"]; path != "" {
		d.paths = append(d.paths, path)
	}
	switch {
	case start.Name.Local == "svg" && d.width == 0:
		d.width, d.height = numbers["width"], numbers["height"]
	case start.Name.Local == "rect":
		d.rectangles = append(d.rectangles, rectangle{attributes["class"], numbers["x"], numbers["y"], numbers["width"], numbers["height"]})
	}
}

// pathsOf returns the paths of the steps and arms of a workflow, sorted.
func pathsOf(tree *language.Tree) []string {
	var paths []string
	for located := range tree.All() {
		paths = append(paths, located.Path)
		for _, arm := range language.Arms(located.Step) {
			paths = append(paths, located.Path+"."+arm.Label)
		}
	}
	slices.Sort(paths)
	return paths
}

// TestDrawingsAreSound checks for random workflows that the drawing is well-formed, that
// each step and arm is drawn once, that boxes are in the drawing and do not overlap, and
// that each count is shown.
func TestDrawingsAreSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree, err := language.Parse(languagetest.Source(t))
		if err != nil {
			t.Fatal(err)
		}
		paths := pathsOf(tree)
		o := diagram.Options{Counts: map[string]int{}, Lit: map[string]bool{}}
		steps := 0
		for located := range tree.All() {
			o.Counts[located.Path] = steps
			o.Lit[located.Path] = steps%2 == 0
			steps++
		}
		svg := diagram.Draw(tree, o)
		if strings.Contains(svg, `<path d=""/>`) {
			t.Fatalf("a step has no icon in\n%s", svg)
		}
		if diagram.Draw(tree, o) != svg {
			t.Fatal("two drawings of the same workflow differ")
		}
		d, err := read(svg)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(d.paths)
		if !slices.Equal(d.paths, paths) {
			t.Fatalf("the drawing has the paths %v, want %v", d.paths, paths)
		}
		badges := 0
		var boxes []rectangle
		for _, r := range d.rectangles {
			if r.x < 0 || r.y < 0 || r.x+r.width > d.width || r.y+r.height > d.height {
				t.Fatalf("%+v is outside of the drawing of %d × %d", r, d.width, d.height)
			}
			if r.class == "badge" {
				badges++
			}
			if !strings.HasPrefix(r.class, "box") {
				continue
			}
			for _, other := range boxes {
				if r.overlaps(other) {
					t.Fatalf("%+v overlaps %+v in the drawing of\n%s", r, other, tree)
				}
			}
			boxes = append(boxes, r)
		}
		if badges != steps {
			t.Fatalf("the drawing shows %d counts, want %d", badges, steps)
		}
	})
}

// TestTextsAreEscaped checks that names from a workflow stay text.
func TestTextsAreEscaped(t *testing.T) {
	t.Parallel()
	tree := parse(t, `workflow "A & <b> \"c\"" v1 {
  enter on activity."<i>"
  exit "]]>" when suppressed
  send "</title><script>alert(1)</script>\n"
}`)
	d, err := read(diagram.Draw(tree, diagram.Options{IDs: "\"><script>", NoStyle: true}))
	if err != nil {
		t.Fatal(err)
	}
	for _, element := range []string{"script", "b", "i", "style"} {
		if d.elements[element] > 0 {
			t.Errorf("the drawing has an element %s", element)
		}
	}
	if all := strings.Join(d.texts, ""); !strings.Contains(all, `"</title><script>alert(1)</script>`) || !strings.Contains(all, "]]>") {
		t.Errorf("the drawing has the texts %q", d.texts)
	}
}

// TestHighlights checks which elements are highlighted and dimmed.
func TestHighlights(t *testing.T) {
	t.Parallel()
	tree := parse(t, "workflow \"W\" v1 {\n enter on activity.x\n if suppressed {\n send \"a\"\n }\n wait 1 day\n}")
	for _, row := range []struct {
		lit      []string
		has, not []string
	}{
		{nil, nil, []string{` dim"`, ` lit" data`}},
		{[]string{"0", "0.then.0", "1", diagram.End}, []string{`class="mark arm lit" id="step-0.then"`, `class="mark arm dim">`, `class="mark end lit"`}, []string{`class="mark arm lit">`}},
		{[]string{"0", "1"}, []string{`class="mark arm dim" id="step-0.then"`, `class="mark arm lit">`, `class="mark end dim"`}, nil},
		{[]string{"0", "0." + diagram.Through}, []string{`class="mark arm lit">`, `class="step wait dim"`}, nil},
	} {
		o := diagram.Options{Lit: map[string]bool{}, NoStyle: true}
		for _, path := range row.lit {
			o.Lit[path] = true
		}
		svg := diagram.Draw(tree, o)
		for _, want := range row.has {
			if !strings.Contains(svg, want) {
				t.Errorf("with %v, the drawing lacks %s in\n%s", row.lit, want, svg)
			}
		}
		for _, unwanted := range row.not {
			if strings.Contains(svg, unwanted) {
				t.Errorf("with %v, the drawing has %s", row.lit, unwanted)
			}
		}
	}
}
