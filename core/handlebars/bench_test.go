package handlebars_test

import (
	"strings"
	"testing"

	"github.com/mailgun/raymond/v2"
	"github.com/mailhelm/mailhelm/core/handlebars"
)

// newsletter returns a template of 12 KB with eight variables and a loop over four articles, and its
// data.
func newsletter(t testing.TB) (source string, data map[string]any) {
	t.Helper()
	row := `<tr><td style="padding:12px 24px;font-family:Helvetica,Arial,sans-serif;font-size:14px;line-height:20px;color:#333333;">` +
		"Each month we collect what we have learned from our readers, and what we are working on.</td></tr>\n"
	head := `<!DOCTYPE html><html lang="en"><head><title>{{subject}}</title></head><body><table width="600" cellpadding="0">` + "\n" +
		`<tr><td><p>Hello {{first_name}} {{last_name}},</p><p>your plan is {{plan}}.</p></td></tr>` + "\n"
	loop := "{{#each articles}}\n" + `<tr><td><a href="{{url}}">{{title}}</a></td></tr>` + "\n{{/each}}\n"
	foot := `<tr><td>{{company}}, {{address}}, {{city}} &middot; <a href="{{unsubscribe_url}}">Unsubscribe</a></td></tr></table></body></html>` + "\n"
	const size = 12 << 10
	fill := strings.Repeat(row, (size-len(head+loop+foot))/len(row))
	half := len(fill) / len(row) / 2 * len(row)
	data = object(t, `{"subject":"News of March","first_name":"Ada","last_name":"O'Neill","plan":"pro","company":"Example & Sons","address":"1 Main Street","city":"Springfield",
		"unsubscribe_url":"https://mail.example/u/0123456789abcdef","articles":[
		{"url":"https://example.com/1","title":"What is new"},{"url":"https://example.com/2?a=b","title":"Questions & answers"},
		{"url":"https://example.com/3","title":"Dates"},{"url":"https://example.com/4","title":"Thanks"}]}`)
	return head + fill[:half] + loop + fill[half:] + foot, data
}

// TestExecuteAllocatesNothing checks that an execution into a large enough dst allocates no
// memory.
func TestExecuteAllocatesNothing(t *testing.T) {
	source, data := newsletter(t)
	template := parse(t, source, handlebars.HTML)
	dst := make([]byte, 0, 64<<10)
	allocations := testing.AllocsPerRun(100, func() {
		if _, err := template.Execute(dst, data, handlebars.Limits{}); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// BenchmarkExecute compares an execution with raymond, and with a copy of the finished
// output, which is the least that any implementation does.
func BenchmarkExecute(b *testing.B) {
	source, data := newsletter(b)
	template := parse(b, source, handlebars.HTML)
	b.Run("copy", func(b *testing.B) {
		finished := render(b, source, handlebars.HTML, data)
		dst := make([]byte, 0, 64<<10)
		for b.Loop() {
			dst = append(dst[:0], finished...)
		}
	})
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		dst := make([]byte, 0, 64<<10)
		for b.Loop() {
			out, err := template.Execute(dst, data, handlebars.Limits{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(out)))
		}
	})
	peer := raymond.MustParse(source)
	b.Run("raymond", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out, err := peer.Exec(data)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(out)))
		}
	})
}

func BenchmarkParse(b *testing.B) {
	source, _ := newsletter(b)
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(source)))
		for b.Loop() {
			parse(b, source, handlebars.HTML)
		}
	})
	b.Run("raymond", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(source)))
		for b.Loop() {
			raymond.MustParse(source)
		}
	})
}
