package registry

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// node is a value in the data of an activity, with its name in the enclosing object. Kind is
// the JSON type of a value without children.
type node struct {
	Name, Value, Kind string
	Children          []node
}

// maxNodes and maxDepth limit the values of one activity that the page shows.
const (
	maxNodes = 200
	maxDepth = 12
)

// treeOf returns the members of a JSON object in their order, and the number of values that
// it omits because there are too many or they are too deep.
func treeOf(object string) ([]node, int) {
	t := tree{Decoder: json.NewDecoder(strings.NewReader(object))}
	t.UseNumber()
	root, err := t.value("", 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return []node{{Value: frame.PlainName(object), Kind: "text"}}, 0
	}
	return root.Children, t.omitted
}

// tree reads JSON values as nodes.
type tree struct {
	*json.Decoder
	shown, omitted int
}

// value reads the next value. depth is the number of objects and arrays around it.
func (t *tree) value(name string, depth int) (node, error) {
	token, err := t.Token()
	if err != nil {
		return node{}, err
	}
	n := node{Name: frame.PlainName(name)}
	switch token := token.(type) {
	case json.Delim:
		n.Kind = "object"
		if token == '[' {
			n.Kind = "array"
		}
		return n, t.children(&n, depth+1)
	case string:
		n.Kind, n.Value = "string", frame.PlainName(token)
	case json.Number:
		n.Kind, n.Value = "number", token.String()
	case bool:
		n.Kind, n.Value = "bool", "false"
		if token {
			n.Value = "true"
		}
	default:
		n.Kind, n.Value = "null", "null"
	}
	return n, nil
}

// children reads the values of an object or array up to its end, and adds those within the
// limits to n.
func (t *tree) children(n *node, depth int) error {
	for t.More() {
		name := ""
		if n.Kind == "object" {
			key, err := t.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
		}
		shown := t.shown < maxNodes && depth <= maxDepth
		if shown {
			t.shown++
		}
		child, err := t.value(name, depth)
		if err != nil {
			return err
		}
		if shown {
			n.Children = append(n.Children, child)
		} else {
			t.omitted++
		}
	}
	_, err := t.Token() // the end of the object or array
	return err
}
