package core_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

func TestPagesGoOnWhereTheyEnd(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 1000, time.UTC)
	rows := []string{"c", "b", "a"}
	page := core.PageOf(rows, 2, "f", func(id string) core.After { return core.After{At: at, ID: id} })
	if len(page.Items) != 2 || page.Next == "" {
		t.Fatalf("%+v", page)
	}
	after, err := core.AfterCursor("f", page.Next)
	if err != nil || !after.At.Equal(at) || after.ID != "b" {
		t.Errorf("%+v, %v", after, err)
	}
	if last := core.PageOf(rows, 3, "f", nil); last.Next != "" || len(last.Items) != 3 {
		t.Errorf("the last page goes on: %+v", last)
	}
}

func TestPagesAreReadBehindTheirCursors(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	all := []string{"d", "c", "b", "a"}
	read := func(after *core.After, limit int) ([]string, error) {
		rows := all
		if after != nil {
			rows = all[slices.Index(all, after.ID)+1:]
		}
		return rows[:min(limit, len(rows))], nil
	}
	place := func(id string) core.After { return core.After{At: at, ID: id} }
	first, err := core.ReadPage("f", "", 3, read, place)
	if err != nil || !slices.Equal(first.Items, all[:3]) || first.Next == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	if rest, err := core.ReadPage("f", first.Next, 0, read, place); err != nil || !slices.Equal(rest.Items, all[3:]) || rest.Next != "" {
		t.Errorf("%+v, %v", rest, err)
	}
	if _, err := core.ReadPage("g", first.Next, 3, read, place); core.AsError(err) == nil || core.AsError(err).Code != core.CodeValidationFailed {
		t.Errorf("a cursor of another list: %v", err)
	}
	broken := errors.New("broken")
	if page, err := core.ReadPage("f", "", 3, func(*core.After, int) ([]string, error) { return all, broken }, place); !errors.Is(err, broken) || page.Items != nil {
		t.Errorf("%+v, %v", page, err)
	}
}

func TestCursorsOfOtherShapesAreRefused(t *testing.T) {
	t.Parallel()
	for name, cursor := range map[string]string{
		"no time":      core.EncodeCursor("f", "x", "id"),
		"no id":        core.EncodeCursor("f", "1", ""),
		"a long id":    core.EncodeCursor("f", "1", strings.Repeat("a", 257)),
		"a zero byte":  core.EncodeCursor("f", "1", "a\x00"),
		"other filter": core.EncodeCursor("g", "1", "a"),
		"one key":      core.EncodeCursor("f", "1"),
	} {
		if _, err := core.AfterCursor("f", cursor); core.AsError(err) == nil || core.AsError(err).Code != core.CodeValidationFailed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, err := core.AfterCursor("f", ""); after != nil || err != nil {
		t.Errorf("the start of a list: %v, %v", after, err)
	}
}
