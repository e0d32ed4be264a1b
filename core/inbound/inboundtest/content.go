package inboundtest

import "strings"

// attached returns a sample with one attachment whose part has the given header fields.
func attached(name, about, fields, wantName string, codes ...string) Sample {
	return usual("file-"+name, about,
		Want{Text: "see", Attachments: []Attachment{{Filename: wantName, ContentType: "application/pdf", Size: 4}}, Warnings: codes},
		mixed, "--b\r\n\r\nsee\r\n--b\r\nContent-Type: application/pdf\r\n", fields, "\r\n\r\n%PDF\r\n--b--\r\n")
}

func filenameSamples() []Sample {
	const disposition = "Content-Disposition: attachment; filename"
	return []Sample{
		attached("parent-folders", "A path out of the folder.", disposition+`="../../../etc/passwd"`, "passwd"),
		attached("windows-path", "A path of Windows.", disposition+`="C:\\Windows\\System32\\evil.pdf"`, "evil.pdf"),
		attached("encoded-path", "A path behind percent escapes.", disposition+`*=utf-8''..%2F..%2Fevil.pdf`, "evil.pdf"),
		attached("dots", "Nothing but dots.", disposition+`=".."`, ""),
		attached("hidden", "A name that is hidden in a file system.", disposition+`=".htaccess"`, "htaccess"),
		attached("device", "A device of Windows.", disposition+`="con.txt"`, "_con.txt"),
		attached("stream", "An alternate stream of NTFS and reserved characters.", disposition+`="a.txt:evil|x?.exe"`, "a.txt_evil_x_.exe"),
		attached("bidi", "An override that shows fdp.exe as exe.pdf.", disposition+"*=utf-8''invoice%E2%80%AEfdp.exe", "invoicefdp.exe"),
		attached("zero-width", "Characters without width, a soft hyphen and a byte order mark.", disposition+"*=utf-8''a%E2%80%8Bb%C2%ADc%EF%BB%BF.pdf", "abc.pdf"),
		attached("controls", "Line ends, NUL and escape sequences.", disposition+"*=utf-8''a%0D%0A%00%1B%5B31m.pdf", "a [31m.pdf"),
		attached("long", "A name of 20,000 characters keeps its extension.", disposition+"="+strings.Repeat("a", 3000)+".pdf", strings.Repeat("a", 196)+".pdf"),
		attached("long-extension", "A name that is cut inside a character.", disposition+"*=utf-8''"+strings.Repeat("%E6%97%A5", 300), strings.Repeat("日", 66)),
		attached("continued", "A name in pieces, out of order (RFC 2231).", disposition+"*1*=%20b;"+" filename*0*=utf-8'en'a; filename*2=\"c.pdf\"", "a bc.pdf"),
		attached("continued-gap", "Pieces with a gap; the rest is left out.", disposition+"*0=a; filename*1=b; filename*3=d", "ab"),
		attached("continued-flood", "1,000 pieces and huge numbers.", disposition+"*999999999999=x; "+strings.Repeat("filename*0=a; ", 1000), "a"),
		attached("encoded-word", "An encoded word, which RFC 2047 forbids here.", disposition+`="=?utf-8?q?=C3=BCber.pdf?="`, "über.pdf"),
		attached("encoded-word-path", "A path in an encoded word.", disposition+`="=?utf-8?b?Li4vLi4vZXZpbC5wZGY=?="`, "evil.pdf"),
		attached("both-forms", "Two names; the one with a charset counts.", disposition+`="ascii.pdf"; filename*=utf-8''%C3%BC.pdf`, "ü.pdf"),
		attached("charset-unknown", "A name in a charset that does not exist.", disposition+"*=klingon''abc.pdf", "abc.pdf", "unknown_charset"),
		attached("unquoted", "A name with spaces and without quotes.", disposition+"=my file 1.pdf; size=4", "my file 1.pdf"),
		attached("unclosed", "A quote that is never closed.", disposition+`="evil.pdf; size=4`, "evil.pdf"),
		attached("raw-latin1", "Raw bytes that are no UTF-8.", disposition+"=\"\xfcber.pdf\"", "�ber.pdf"),
		attached("params-flood", "5,000 parameters before the name.", "Content-Disposition: attachment; "+strings.Repeat("a=b; ", 5000)+"filename=x.pdf", ""),
	}
}

func encodingSamples() []Sample {
	b64 := head + "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n"
	qp := head + "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
	return []Sample{
		usual("base64-garbage", "Characters between the digits that do not belong there.", Want{Text: "hello", Warnings: warnings("damaged_encoding")}, b64, "aG!!Vs\r\n*bG8=\r\n"),
		usual("base64-cut", "The last group lacks digits.", Want{Text: "hell", Warnings: warnings("damaged_encoding")}, b64, "aGVsbG8gd29yb"[:9]),
		usual("base64-no-padding", "No padding at the end.", Want{Text: "hello"}, b64, "aGVsbG8"),
		usual("base64-two-pieces", "Two encoded texts one after the other.", Want{Text: "hellohello"}, b64, "aGVsbG8=\r\naGVsbG8=\r\n"),
		usual("base64-padding-flood", "Nothing but padding.", Want{}, b64, repeat("=", 1_000_000)),
		usual("base64-plain", "Plain text that claims to be base64.", Want{Text: "\uFFFD", Warnings: warnings("damaged_encoding", "invalid_text")},
			strings.Replace(b64, "text/plain", "text/plain; charset=utf-8", 1), "This is plain text.\r\n"),
		usual("qp-invalid", "Escapes without two digits.", Want{Text: "a=ZZb=4 c=", Warnings: warnings("damaged_encoding")}, qp, "a=ZZb=4 c==\r\n"),
		usual("qp-end", "The text ends in an escape.", Want{Text: "a=4", Warnings: warnings("damaged_encoding")}, qp, "a=4"),
		usual("qp-soft-breaks", "A million soft line breaks.", Want{Text: "ab"}, qp, "a", repeat("=\r\n", 1_000_000), "b"),
		usual("qp-spaces", "Spaces at the ends of lines, some of them many.", Want{Text: "a\nb\n"}, qp, "a \t\r\nb", repeat(" ", 1000), "\r\n"),
		usual("qp-space-flood", "Two million spaces in one line.", Want{Text: "a  "}, qp, "a", repeat(" ", 2_000_000), "b\r\n"),
		usual("encoding-unknown", "A transfer encoding that does not exist.", Want{Text: "words", Warnings: warnings("unknown_encoding")},
			head, "Content-Transfer-Encoding: x-uuencode\r\n\r\nwords"),
		usual("encoding-comment", "A transfer encoding with a comment and in capitals.", Want{Text: "hello"},
			head, "Content-Transfer-Encoding: BASE64 (trust me)\r\n\r\naGVsbG8="),
		usual("type-broken", "Content types that cannot be read.", Want{
			Text:        "words",
			Attachments: []Attachment{{ContentType: "application/octet-stream", Size: 1}, {ContentType: "application/octet-stream", Size: 1}},
		},
			mixed, "--b\r\nContent-Type: text\r\n\r\nwords\r\n--b\r\nContent-Type: a b/c d\r\n\r\nx\r\n--b\r\nContent-Type: <script>/\r\n\r\nx\r\n--b--\r\n"),
		usual("type-no-semicolon", "Parameters without a semicolon.", Want{Text: "é"},
			head, "Content-Type: text/plain charset=\"iso-8859-1\"\r\n\r\n\xe9"),
	}
}

func charsetSamples() []Sample {
	in := func(name, about, charset, body string, want Want) Sample {
		return usual("charset-"+name, about, want, head, "Content-Type: text/plain; charset=", charset, "\r\n\r\n", body)
	}
	var charsets strings.Builder
	for _, c := range []string{"utf-16", "iso-2022-jp", "shift_jis", "gb18030", "big5", "euc-kr", "koi8-r", "windows-1255", "macintosh", "cp437"} {
		charsets.WriteString("--b\r\nContent-Type: text/plain; charset=" + c + "\r\n\r\na\r\n")
	}
	return []Sample{
		in("unknown", "A charset that does not exist.", "klingon", "words \xe9", Want{Text: "words é", Warnings: warnings("unknown_charset", "invalid_text")}),
		in("utf-7", "UTF-7, in which scripts hide as letters; it is not decoded.", "utf-7", "+ADw-script+AD4-", Want{Text: "+ADw-script+AD4-", Not: "<script>", Warnings: warnings("unknown_charset")}),
		in("utf-8-invalid", "UTF-8 with overlong forms, surrogates and lone bytes.", "utf-8", "a\xc0\xafb\xed\xa0\x80c\xff", Want{Text: "a\uFFFDb\uFFFDc", Warnings: warnings("invalid_text")}),
		in("utf-16-odd", "UTF-16 with half a character and a lone surrogate.", "utf-16be", "\x00a\xd8\x00\x00b\x00", Want{Text: "a\uFFFDb", Warnings: warnings("invalid_text")}),
		in("ascii-8-bit", "8-bit characters that claim to be ASCII.", "us-ascii", "caf\xe9", Want{Text: "café", Warnings: warnings("invalid_text")}),
		in("iso-2022-jp-cut", "A Japanese text that ends within its escape sequences.", "iso-2022-jp", "\x1b$BF|K\\", Want{Text: "日本"}),
		in("long-name", "A charset name of 10,000 characters.", strings.Repeat("x", 3000), "words", Want{Text: "words", Warnings: warnings("unknown_charset")}),
		in("quoted-twice", "A charset that names its parameter again.", `"charset=iso-8859-1"`, "\xe9", Want{Text: "é"}),
		in("escape-flood", "A million switches between character sets.", "iso-2022-jp", strings.Repeat("\x1b$B\x1b(B", 200_000), Want{}),
		usual("charset-bomb", "1,000 parts in ten charsets.", Want{Text: "a\na\n", Warnings: warnings("part_limit", "invalid_text")},
			mixed, repeat(charsets.String(), 100), "--b--\r\n"),
		usual("charset-html-meta", "HTML that states its charset only in itself.", Want{HTML: "日本"},
			head, "Content-Type: text/html\r\n\r\n<meta charset=shift_jis>\x93\xfa\x96\x7b"),
		usual("bom", "A byte order mark before the text.", Want{Text: "words", Not: "\uFEFF"}, head, plain, "\xef\xbb\xbfwords"),
	}
}

func contentSamples() []Sample {
	htmlType := "Content-Type: text/html; charset=utf-8\r\n\r\n"
	return []Sample{
		usual("html-script", "HTML with a script, which is kept as it is, for a sandbox.", Want{HTML: "<script>alert(1)</script>"}, head, htmlType, "<p>hi</p><script>alert(1)</script>"),
		usual("html-deep", "200,000 elements inside one another.", Want{HTML: "<div><div>"}, head, htmlType, repeat("<div>", 200_000)),
		usual("html-unclosed-tag", "A tag with a million attributes that never ends.", Want{HTML: "<a a=1 a=1"}, head, htmlType, "<a ", repeat("a=1 ", 250_000)),
		usual("html-comment-flood", "Comments that never end.", Want{HTML: "<!--<!--"}, head, htmlType, repeat("<!--", 250_000)),
		usual("html-entities", "Half a million character references.", Want{HTML: "&nGt;"}, head, htmlType, repeat("&nGt;", 500_000)),
		usual("body-nul", "A body of nothing but NUL.", Want{Text: "\uFFFD\uFFFD", Not: "\x00"}, head, plain, repeat("\x00", 100_000)),
		usual("body-cr", "Line ends that are CR only.", Want{Text: "a\nb\n", Not: "\r"}, head, plain, "a\rb\r"),
		usual("body-smuggled", "A text that contains the end of a message and commands of SMTP.", Want{Text: "a\n.\nMAIL FROM:<evil@example.net>\n"}, head, plain, "a\n.\nMAIL FROM:<evil@example.net>\n"),
		usual("cid-flood", "HTML with a million references to embedded files.",
			Want{HTML: "cid:x", Attachments: []Attachment{{Filename: "a.png", ContentType: "image/png", Size: 1, Inline: true}}},
			head, "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n", htmlType, repeat("<img src=cid:x>", 200_000),
			"\r\n--b\r\nContent-Type: image/png; name=a.png\r\nContent-ID: <x>\r\nContent-Disposition: attachment\r\n\r\nx\r\n--b--\r\n"),
	}
}

func sizeSamples() []Sample {
	return []Sample{
		usual("line-64-mb", "One line of 64 MB.", Want{Text: "aaaa", Warnings: warnings("body_cut")}, head, plain, repeat("a", 64<<20)),
		usual("line-64-mb-attached", "An attachment that is one line of base64 of 64 MB.",
			Want{Text: "see", Attachments: []Attachment{{Filename: "a.bin", ContentType: "application/octet-stream", Size: 48 << 20}}},
			mixed, "--b\r\n\r\nsee\r\n--b\r\nContent-Type: application/octet-stream; name=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n", repeat("AAAA", 16<<20), "\r\n--b--\r\n"),
		usual("lines-64-mb", "32 million empty lines.", Want{Text: "\n\n", Warnings: warnings("body_cut")}, head, plain, repeat("\r\n", 32<<20)),
		usual("html-64-mb", "HTML of 64 MB.", Want{HTML: "<p>x</p>", Warnings: warnings("body_cut")}, head, "Content-Type: text/html\r\n\r\n", repeat("<p>x</p>", 8<<20)),
		usual("latin1-64-mb", "64 MB in a charset whose characters become three times as long.", Want{Text: "€€", Warnings: warnings("body_cut")},
			head, "Content-Type: text/plain; charset=windows-1252\r\n\r\n", repeat("\x80", 64<<20)),
		usual("header-64-mb", "A header of 64 MB without a body.", Want{Warnings: warnings("value_cut")}, head, "X-A: ", repeat("a\r\n ", 16<<20)),
	}
}
