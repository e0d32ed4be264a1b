package inboundtest

import (
	"fmt"
	"strings"
)

// nested returns the delimiters of multiparts inside one another, with numbered boundaries,
// and the closing delimiters.
func nested(depth int) (open, closing string) {
	var o, c strings.Builder
	for i := range depth {
		fmt.Fprintf(&o, "--n%d\r\nContent-Type: multipart/mixed; boundary=n%d\r\n\r\n", i, i+1)
		fmt.Fprintf(&c, "--n%d--\r\n", depth-i)
	}
	return o.String(), c.String()
}

func structureSamples() []Sample {
	nestedHead := head + "Content-Type: multipart/mixed; boundary=n0\r\n\r\n"
	open30, close30 := nested(30)
	open1000, close1000 := nested(1000)
	open20000, _ := nested(20_000)
	return []Sample{
		usual("nesting-30", "Multiparts 31 levels deep, which is still read.", Want{Text: "deep"},
			nestedHead, open30, "--n30\r\n\r\ndeep\r\n", close30, "--n0--\r\n"),
		usual("nesting-1000", "Multiparts 1,000 levels deep, to overflow a stack.",
			Want{Attachments: []Attachment{{ContentType: "multipart/mixed", Size: nestedBody(1000, 32)}}, Warnings: warnings("nesting_limit")},
			nestedHead, open1000, "--n1000\r\n\r\ndeep\r\n", close1000, "--n0--\r\n"),
		usual("nesting-20000-unclosed", "Multiparts 20,000 levels deep that never end.",
			Want{Attachments: []Attachment{{ContentType: "multipart/mixed", Size: int64(len(open20000)) - nestedPrefix(32)}}, Warnings: warnings("nesting_limit", "unterminated_multipart")},
			nestedHead, open20000),
		usual("parts-10000", "A message of 10,000 small parts.",
			Want{AttachmentCount: 999, Warnings: warnings("part_limit")},
			mixed, repeat("--b\r\nContent-Type: image/gif\r\n\r\nx\r\n", 10_000), "--b--\r\n"),
		usual("parts-empty-500000", "Half a million delimiters without anything between them.",
			Want{Warnings: warnings("part_limit")}, mixed, repeat("--b\r\n", 500_000), "--b--\r\n"),
		usual("text-parts-900", "900 text parts that add up.", Want{Text: "abc\nabc\nabc\n"},
			mixed, repeat("--b\r\n\r\nabc\r\n", 900), "--b--\r\n"),
		usual("rfc822-chain", "Attached messages 200 levels deep; the first is an attachment and is not opened.",
			Want{Text: "see", Attachments: []Attachment{{ContentType: "message/rfc822", Size: 200*32 + 4}}},
			mixed, "--b\r\n\r\nsee\r\n--b\r\n", "Content-Type: message/rfc822\r\n\r\n", repeat("Content-Type: message/rfc822 \r\n\r\n"[:30]+"\r\n", 200), "last\r\n--b--\r\n"),
		usual("rfc822-root", "The message itself is an attached message.",
			Want{Attachments: []Attachment{{ContentType: "message/rfc822", Size: 17}}},
			head, "Content-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\ny\r\n"),
		usual("tnef", "A winmail.dat, which is not opened.",
			Want{Text: "see", Attachments: []Attachment{{Filename: "winmail.dat", ContentType: "application/ms-tnef", Size: 6}}},
			mixed, "--b\r\n\r\nsee\r\n--b\r\nContent-Type: application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64\r\n\r\neJ8+IgEA\r\n--b--\r\n"),
		usual("zip-bomb", "An archive that would become large when unpacked; it is not unpacked.",
			Want{Text: "see", Attachments: []Attachment{{Filename: "42.zip", ContentType: "application/zip", Size: 300_000}}},
			mixed, "--b\r\n\r\nsee\r\n--b\r\nContent-Type: application/zip\r\nContent-Disposition: attachment; filename=42.zip\r\nContent-Transfer-Encoding: base64\r\n\r\n",
			repeat("UEsDBBQAAAAIAAAAIQAAAAAA\r\nAAAAAAAAAAAAAAAA\r\n", 10_000), "--b--\r\n"),
		usual("alternative-html-first", "HTML before text in multipart/alternative.", Want{Text: "plain", HTML: "<b>rich</b>"},
			head, "Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n<b>rich</b>\r\n--b\r\n\r\nplain\r\n--b--\r\n"),
		usual("alternative-in-mixed-in-related", "Containers in an unusual order.",
			Want{Text: "plain", HTML: "rich", Attachments: []Attachment{{Filename: "a.png", ContentType: "image/png", Size: 1, Inline: true}}},
			head, "Content-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n",
			"--a\r\n\r\nplain\r\n--a\r\nContent-Type: text/html\r\n\r\nrich\r\n--a--\r\n--m--\r\n--r\r\nContent-Type: image/png; name=a.png\r\n\r\nx\r\n--r--\r\n"),
		usual("alternative-nothing-readable", "An alternative of formats that are no text.",
			Want{Attachments: []Attachment{{ContentType: "text/x-amp-html", Size: 3, Inline: true}, {ContentType: "text/calendar", Size: 3, Inline: true}}},
			head, "Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\nContent-Type: text/x-amp-html\r\n\r\namp\r\n--b\r\nContent-Type: text/calendar\r\n\r\ncal\r\n--b--\r\n"),
		usual("text-attachment", "Text that is marked as an attachment, with the only words.",
			Want{Attachments: []Attachment{{Filename: "a.txt", ContentType: "text/plain", Size: 5}}},
			head, "Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nwords"),
		usual("digest", "A digest whose parts are messages without saying so.",
			Want{Attachments: []Attachment{{ContentType: "message/rfc822", Size: 15}}},
			head, "Content-Type: multipart/digest; boundary=b\r\n\r\n--b\r\n\r\nSubject: a\r\n\r\nb\r\n--b--\r\n"),
		usual("multipart-base64", "A multipart with a transfer encoding, which RFC 2045 forbids.", Want{Text: "words"},
			head, "Content-Type: multipart/mixed; boundary=b\r\nContent-Transfer-Encoding: base64\r\n\r\n--b\r\n\r\nwords\r\n--b--\r\n"),
		usual("part-without-blank-line", "A part that has a header only.",
			Want{Text: "after"}, mixed, "--b\r\nContent-Type: text/plain\r\n--b\r\n\r\nafter\r\n--b--\r\n"),
	}
}

// nestedBody returns the length of the body of the multipart at a depth, among total ones
// around a text.
func nestedBody(total, depth int) int64 {
	open, closing := nested(total)
	_, afterwards, _ := strings.Cut(closing, fmt.Sprintf("\r\n--n%d--", depth-1))
	return int64(len(open+"--n1000\r\n\r\ndeep\r\n"+closing)-len(afterwards)-len(fmt.Sprintf("\r\n--n%d--", depth-1))) - nestedPrefix(depth)
}

// nestedPrefix returns the number of bytes before the body of the multipart at a depth.
func nestedPrefix(depth int) int64 {
	open, _ := nested(depth)
	return int64(len(open))
}

func boundarySamples() []Sample {
	part := "\r\n\r\nwords\r\n"
	return []Sample{
		usual("boundary-prefixes", "Delimiters that begin with the boundary and continue.",
			Want{Text: "--bb\n--b-\n--b--b\n--b=\nwords"}, mixed, "--b\r\n\r\n--bb\r\n--b-\r\n--b--b\r\n--b=\r\nwords\r\n--b--\r\n"),
		usual("boundary-after-dashes", "A body whose last line begins with dashes.",
			Want{Attachments: []Attachment{{ContentType: "image/gif", Size: 4}}}, mixed, "--b\r\nContent-Type: image/gif\r\n\r\n--bb\r\n--b--\r\n"),
		usual("boundary-prefixes-endless", "A million lines that nearly are delimiters.",
			Want{Text: "--ba\n--ba\n", Warnings: warnings("unterminated_multipart")}, mixed, "--b\r\n\r\n", repeat("--ba\r\n", 400_000)),
		usual("boundary-dashes", "A body of nothing but dashes.",
			Want{Text: "-----", Warnings: warnings("unterminated_multipart")}, mixed, "--b\r\n\r\n", repeat("--", 500_000)),
		usual("boundary-long-lines", "Lines that begin with dashes and are longer than the buffer.",
			Want{Text: "--bbbb"}, mixed, "--b\r\n\r\n--", repeat("b", 100_000), "\r\n--b--\r\n"),
		usual("boundary-missing", "A multipart that states no boundary.",
			Want{Text: "words", Warnings: warnings("missing_boundary")}, head, "Content-Type: multipart/mixed\r\n\r\n--b"+part+"--b--\r\n"),
		usual("boundary-missing-inside", "An inner multipart without boundary inside one with.",
			Want{Text: "after", Warnings: warnings("missing_boundary", "empty_multipart")},
			mixed, "--b\r\nContent-Type: multipart/alternative\r\n\r\nno delimiter\r\n--b"+"\r\n\r\nafter\r\n--b--\r\n"),
		usual("boundary-empty", "An empty boundary.",
			Want{Text: "words", Warnings: warnings("missing_boundary")}, head, "Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n--b"+part+"--b--\r\n"),
		usual("boundary-wrong", "A boundary that does not occur.",
			Want{Text: "--other", Warnings: warnings("empty_multipart", "unterminated_multipart")}, head, "Content-Type: multipart/mixed; boundary=b\r\n\r\n--other"+part+"--other--\r\n"),
		usual("boundary-long", "A boundary of 5,000 characters.",
			Want{Text: "words", Warnings: warnings("missing_boundary")}, head, "Content-Type: multipart/mixed; boundary=\"", repeat("x", 5000), "\"\r\n\r\n--b"+part+"--b--\r\n"),
		usual("boundary-same-inside", "An inner multipart with the boundary of the outer one.",
			Want{Text: "one\ntwo"}, mixed, "--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n--b--\r\n"),
		usual("boundary-suffix-dashes", "An inner boundary that is the outer one and two dashes.",
			Want{Text: "inner"}, mixed, "--b\r\nContent-Type: multipart/mixed; boundary=\"b--\"\r\n\r\n--b--\r\n\r\ninner\r\n--b----\r\n--b--\r\n"),
		usual("boundary-not-closed", "The message ends in the middle of a part.",
			Want{Text: "wor", Warnings: warnings("unterminated_multipart")}, mixed, "--b\r\n\r\nwor"),
		usual("boundary-after-close", "Parts after the closing delimiter.", Want{Text: "one", Not: "two"},
			mixed, "--b\r\n\r\none\r\n--b--\r\n--b\r\n\r\ntwo\r\n--b--\r\n"),
		usual("boundary-outer-ends-inner", "The outer multipart continues although the inner one has not ended.",
			Want{Text: "inner\nouter"}, mixed, "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\ninner\r\n--b\r\n\r\nouter\r\n--b--\r\n"),
		usual("preamble-and-epilogue", "Text outside of the parts, which only old programs show.", Want{Text: "words", Not: "outside"},
			mixed, "outside\r\n--b"+part+"--b--\r\noutside\r\n"),
		usual("boundary-trailing-space", "Delimiters with space behind them.", Want{Text: "words"},
			mixed, "--b \t \r\n\r\nwords\r\n--b-- \r\n"),
		usual("boundary-bare-lf", "Line ends that are LF only.", Want{Text: "words\n"},
			"From: Anna Test <anna@example.org>\nSubject: Hello\nDate: Tue, 6 Oct 2026 10:00:00 +0200\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nwords\n\n--b--\n"),
	}
}
