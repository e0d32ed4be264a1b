package linediff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/difference/linediff"
)

// write returns a comparison as text: sign, numbers and line.
func write(lines []linediff.Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%c%d,%d %s[%s]%s\n", l.Op, l.Old, l.New, l.Text[:l.From], l.Text[l.From:l.To], l.Text[l.To:])
	}
	return b.String()
}

func TestLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ before, after, want string }{
		"nothing":                {"", "", ""},
		"equal":                  {"a\nb\n", "a\nb", " 1,1 []a\n 2,2 []b\n"},
		"all added":              {"", "a\nb", "+0,1 []a\n+0,2 []b\n"},
		"all removed":            {"a\n", "", "-1,0 []a\n"},
		"other line ends":        {"a\r\nb\r\n", "a\nb\n", " 1,1 []a\n 2,2 []b\n"},
		"a part of a line":       {"x\n<p>Hällo Ada</p>\ny", "x\n<p>Hüllo Ada</p>\ny", " 1,1 []x\n-2,0 <p>H[ä]llo Ada</p>\n+0,2 <p>H[ü]llo Ada</p>\n 3,3 []y\n"},
		"an addition in it":      {"aa", "aaa", "-1,0 aa[]\n+0,1 aa[a]\n"},
		"no common part":         {"abc", "xyz", "-1,0 []abc\n+0,1 []xyz\n"},
		"little in common":       {"abcdef", "axyzuv", "-1,0 []abcdef\n+0,1 []axyzuv\n"},
		"a longer line and more": {"abc", "abcd\nx", "-1,0 abc[]\n+0,1 abc[d]\n+0,2 []x\n"},
		"more lines than gone":   {"a\nb\nc", "a\nB\nB\nc", " 1,1 []a\n-2,0 []b\n+0,2 []B\n+0,3 []B\n 3,4 []c\n"},
		"an inserted line":       {"a\nb\nc\nd", "a\nb\nnew\nc\nd", " 1,1 []a\n 2,2 []b\n+0,3 []new\n 3,4 []c\n 4,5 []d\n"},
		"two places":             {"a\nb\nc\nd\ne", "b\nc\nx\nd\ne2", "-1,0 []a\n 2,1 []b\n 3,2 []c\n+0,3 []x\n 4,4 []d\n-5,0 e[]\n+0,5 e[2]\n"},
	} {
		got, coarse := linediff.Lines(tc.before, tc.after)
		if diff := cmp.Diff(tc.want, write(got)); diff != "" || coarse {
			t.Errorf("%s: coarse %v\n%s", name, coarse, diff)
		}
	}
}

// apply returns the two texts of a comparison.
func apply(lines []linediff.Line) (before, after []string, changes int) {
	for _, l := range lines {
		if l.Op != linediff.Added {
			before = append(before, l.Text)
		}
		if l.Op != linediff.Removed {
			after = append(after, l.Text)
		}
		if l.Op != linediff.Same {
			changes++
		}
	}
	return before, after, changes
}

// common returns the length of a longest common subsequence, by the quadratic algorithm.
func common(a, b []string) int {
	best := make([][]int, len(a)+1)
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for k := range b {
			if a[i] == b[k] {
				best[i+1][k+1] = best[i][k] + 1
			} else {
				best[i+1][k+1] = max(best[i][k+1], best[i+1][k])
			}
		}
	}
	return best[len(a)][len(b)]
}

// TestLinesAreShortest compares random texts: the result must have both texts, and no more
// changes than a quadratic algorithm finds.
func TestLinesAreShortest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []string {
		lines := make([]string, random.IntN(14))
		for i := range lines {
			lines[i] = string(rune('a' + random.IntN(4)))
		}
		return lines
	}
	for range 5_000 {
		a, b := text(), text()
		lines, coarse := linediff.Lines(strings.Join(a, "\n"), strings.Join(b, "\n"))
		before, after, changes := apply(lines)
		if strings.Join(before, "") != strings.Join(a, "") || strings.Join(after, "") != strings.Join(b, "") || coarse {
			t.Fatalf("%v to %v: %s", a, b, write(lines))
		}
		if want := len(a) + len(b) - 2*common(a, b); changes != want {
			t.Fatalf("%v to %v: %d changes, want %d\n%s", a, b, changes, want, write(lines))
		}
	}
}

// TestLargeTexts compares texts of 500 KB with many short lines: the result is coarse but
// complete.
func TestLargeTexts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		var b strings.Builder
		for range 250_000 {
			b.WriteByte("ab"[random.IntN(2)])
			b.WriteByte('\n')
		}
		return b.String()
	}
	one, two := text(), text()
	lines, coarse := linediff.Lines(one, two)
	before, after, _ := apply(lines)
	if !coarse || strings.Join(before, "\n")+"\n" != one || strings.Join(after, "\n")+"\n" != two {
		t.Errorf("coarse %v, %d lines", coarse, len(lines))
	}
	lines, coarse = linediff.Lines(one, strings.Replace(one, "a\n", "x\n", 100))
	if _, _, changes := apply(lines); coarse || changes != 200 {
		t.Errorf("100 changed lines: coarse %v, %d changes", coarse, changes)
	}
}

func TestHunks(t *testing.T) {
	t.Parallel()
	var before, after []string
	for i := range 40 {
		before = append(before, fmt.Sprint("line ", i))
		after = append(after, fmt.Sprint("line ", i))
	}
	after[10], after[30] = "ten", "thirty"
	lines, _ := linediff.Lines(strings.Join(before, "\n"), strings.Join(after, "\n"))
	hunks, more, rest := linediff.Hunks(lines, 2, 100)
	if len(hunks) != 2 || hunks[0].Skipped != 8 || hunks[1].Skipped != 15 || rest != 7 || more != 0 {
		t.Fatalf("%d hunks, %d more, %d rest: %+v", len(hunks), more, rest, hunks)
	}
	if first := hunks[0].Lines; len(first) != 6 || first[0].Old != 9 || first[2].Op != linediff.Removed || first[5].New != 13 {
		t.Errorf("%+v", first)
	}
	if hunks, more, _ = linediff.Hunks(lines, 2, 3); len(hunks) != 1 || more != 3 {
		t.Errorf("%d hunks, %d more: %+v", len(hunks), more, hunks)
	}
	same, _ := linediff.Lines("a\nb", "a\nb")
	if hunks, more, rest = linediff.Hunks(same, 2, 3); len(hunks) != 0 || more != 0 || rest != 2 {
		t.Errorf("equal texts: %d hunks, %d more, %d rest", len(hunks), more, rest)
	}
}
