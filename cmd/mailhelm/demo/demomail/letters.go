package demomail

import "net/mail"

// inboxLetters are the messages of the demo's inbox, as an application under test and others
// would send them.
func inboxLetters() []letter {
	accounts := mail.Address{Name: "Tidewater", Address: "no-reply@accounts.example.org"}
	return []letter{
		{
			from: accounts, subject: "482 913 is your Tidewater code",
			text: "Hello,\n\nuse this code to finish your sign-up:\n\n    482 913\n\nIt is valid for ten minutes. If you did not sign up, ignore this mail.\n\nTidewater\n",
			html: `<div style="font-family:sans-serif;max-width:30em;margin:auto"><p>Hello,</p><p>use this code to finish your sign-up:</p><p style="font-size:2em;letter-spacing:.2em"><b>482 913</b></p><p>It is valid for ten minutes. If you did not sign up, ignore this mail.</p><p>Tidewater</p></div>`,
		},
		{
			from: accounts, subject: "Your sign-in link",
			text: "Open this link to sign in:\n\nhttps://accounts.example.org/sign-in?token=Zk4uY2xvc2VkLWRlbW8\n\nIt works once, within 15 minutes.\n",
			html: `<p>Open this link to sign in:</p><p><a href="https://accounts.example.org/sign-in?token=Zk4uY2xvc2VkLWRlbW8" style="background:#14532d;color:#fff;padding:.7em 1.2em;border-radius:.4em;text-decoration:none">Sign in to Tidewater</a></p><p>It works once, within 15 minutes.</p>`,
		},
		{
			from: mail.Address{Name: "Quayside Supplies", Address: "billing@shop.example.net"}, subject: "Receipt for order QS-20417",
			text: "Thank you for your order.\n\n2 x filter papers, 500 pieces   EUR 18.00\n1 x scale, 0.1 g               EUR 39.90\nTotal                          EUR 57.90\n\nThe receipt is attached.\n",
			file: &attachment{name: "Receipt QS-20417.pdf", contentType: "application/pdf", content: pdf("Quayside Supplies", "Receipt QS-20417", "2 x filter papers, 500 pieces   EUR 18.00", "1 x scale, 0.1 g   EUR 39.90", "Total   EUR 57.90")},
		},
		{
			from: mail.Address{Name: "The Harbour Letter", Address: "letter@news.example.net"}, subject: "Night boats, early coffee", logo: true,
			text: "Night boats, early coffee\n\nThe first ferry now leaves at five. Read it online: https://news.example.net/issues/84\n\nUnsubscribe: https://news.example.net/unsubscribe?id=84\n",
			html: newsletter,
		},
		{
			from: mail.Address{Name: "花と庭", Address: "koyomi@garden.example.org"}, language: "ja", subject: "ご登録の確認をお願いします",
			text: "ご登録ありがとうございます。\n\n確認コード：739204\n\n次のリンクからも登録を完了できます。\nhttps://garden.example.org/kakunin?token=hana-no-niwa\n\nこのメールに心当たりがない場合は、破棄してください。\n",
		},
		{
			from: mail.Address{Name: "Example Bank", Address: "security@bank.example.net"}, forged: true, subject: "Your account is locked - act now",
			text: "Dear customer,\n\nyour account was locked. Confirm your details within 24 hours:\n\nhttps://bank.example.net.account-check.example.org/login\n\nExample Bank\n",
			html: `<p>Dear customer,</p><p>your account was <b>locked</b>. <a href="https://bank.example.net.account-check.example.org/login">https://bank.example.net/login</a></p><img src="https://tracker.example.org/open.gif" width="1" height="1" alt=""><script>document.title = "owned"</script>`,
		},
	}
}

// newsletter is the HTML of a newsletter with a dark background, an image of its own and one of a
// server.
const newsletter = `<!doctype html><html><head><title>The Harbour Letter</title><meta name="color-scheme" content="dark"></head>
<body style="margin:0;background:#1b2622;color:#f3efe4;font-family:Georgia,serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#1b2622"><tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="560" cellpadding="0" cellspacing="0" style="max-width:560px;width:100%"><tr><td align="center"><img src="cid:logo" width="96" height="96" alt="The Harbour Letter"></td></tr>
<tr><td style="padding:24px 0"><h1 style="color:#e8b04b;font-weight:normal;margin:0 0 12px">Night boats, early coffee</h1>
<p style="line-height:1.6">The first ferry now leaves at five, and the kiosk on pier two opens at half past four. We went there with a thermos and a camera.</p>
<img src="https://news.example.net/images/pier-two.jpg" width="560" height="300" alt="Pier two before sunrise" style="max-width:100%;background:#2c3b35">
<p><a href="https://news.example.net/issues/84" style="color:#e8b04b">Read issue 84</a></p></td></tr>
<tr><td style="font-size:12px;color:#9fb0a8">You get this because you subscribed. <a href="https://news.example.net/unsubscribe?id=84" style="color:#9fb0a8">Unsubscribe</a></td></tr></table>
</td></tr></table></body></html>`

// domainLetters are messages to the demo's receiving domain. They are delivered to the
// receiver, except those to "returns", which it refuses, and to "press", which no pattern admits.
func domainLetters() []letter {
	return []letter{
		{
			from: mail.Address{Name: "Ada Almeida", Address: "ada.almeida@example.com"}, to: orderLocalPart, subject: "Re: Your order 1043",
			text: "Hello,\n\nplease send it to the shop in Rua das Flores instead.\n\nAda\n\n> Your order 1043 leaves tomorrow.\n",
		},
		{
			from: mail.Address{Name: "Quayside Supplies", Address: "billing@shop.example.net"}, to: "support", subject: "Our invoice 2026-118",
			text: "Hello Fernhill,\n\nattached is our invoice.\n",
			file: &attachment{name: "invoice-2026-118.pdf", contentType: "application/pdf", content: pdf("Quayside Supplies", "Invoice 2026-118", "EUR 1,240.00")},
		},
		{
			from: mail.Address{Name: "Harbour Letter", Address: "letter@news.example.net"}, to: "press", subject: "May we visit the roastery?",
			text: "Hello,\n\nwe would like to write about you.\n",
		},
		{
			from: mail.Address{Name: "Ada Almeida", Address: "ada.almeida@example.com"}, to: "returns", subject: "One bag arrived open",
			text: "Hello,\n\none of the four bags was open. May I send it back?\n\nAda\n",
		},
		{
			from: mail.Address{Name: "Example Bank", Address: "security@bank.example.net"}, to: "support", forged: true, subject: "Invoice overdue, open the attachment",
			text: "Pay now.\n",
		},
	}
}

// lostLetter is a message that the receiver refused at every attempt.
var lostLetter = letter{
	from: mail.Address{Name: "Garden Club", Address: "koyomi@garden.example.org"}, to: "returns", subject: "Two grinders for repair",
	text: "Hello,\n\nwhere may we send two grinders for repair?\n",
}
