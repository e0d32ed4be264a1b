package smtpd_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
	"pgregory.net/rapid"
)

const (
	opening = "EHLO client.example.org\r\nMAIL FROM:<ada@example.org>\r\nRCPT TO:<inbox@org.example.com>\r\n"
	// second is what an attacker wants to be taken for a second message.
	second = "MAIL FROM:<boss@example.org>\r\nRCPT TO:<inbox@org.example.com>\r\nDATA\r\nSubject: forged\r\n\r\npay\r\n.\r\n"
)

// TestSmuggling checks every wrong end of a message, followed by the commands of a second
// message. The whole is one message for a client that follows RFC 5321, and it is refused.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	ends := []string{"\r\n", "\n", "\r", "\r\r\n", "\n\r", "\r\x00\n", "\n\r\n", "\u0085", "\u2028", ""}
	for _, before := range ends {
		for _, after := range ends {
			end := before + "." + after
			if end == "\r\n.\r\n" {
				continue
			}
			for _, piece := range []int{1, 2, 3, 4096} {
				// Only what follows the wrong end makes the attack, so the true end is the last.
				input := opening + "DATA\r\nSubject: a\r\n\r\nhello" + end + second + "QUIT\r\n"
				replies, got := script(t, smtpd.Limits{}, []byte(input), piece)
				if len(got) > 1 {
					t.Fatalf("%q: %d messages were received:\n%s", end, len(got), replies)
				}
				if len(got) == 0 && !strings.Contains(replies, "554 5.6.0 ") {
					t.Errorf("%q: the message is neither received nor refused:\n%s", end, replies)
				}
				if len(got) == 1 && !strings.Contains(sent(t, got[0]), second[:len(second)-len(".\r\n")]) {
					t.Errorf("%q: received\n%q", end, sent(t, got[0]))
				}
				checkModel(t, input, piece)
			}
		}
	}
}

// model returns the messages that a client means with its bytes if it follows RFC 5321, and
// whether the session may go on in more than one way after them. It knows the commands of the
// constants above, and divides the bytes by the text of the RFC.
func model(input []byte) (messages []string, open bool) {
	sender, recipients, errors := false, 0, 0
	for {
		end := bytes.IndexByte(input, '\n')
		if end < 0 || end >= 2000 {
			return messages, false
		}
		line, rest := string(input[:end+1]), input[max(0, end-1):] // rest begins with CR LF
		input = input[end+1:]
		if strings.TrimRight(line, "\r\n")+"\r\n" != line || strings.Count(line, "\r") != 1 {
			return messages, false
		}
		switch verb, _, _ := strings.Cut(strings.TrimSuffix(line, "\r\n"), " "); verb {
		case "EHLO", "NOOP":
		case "MAIL":
			sender = true
		case "RCPT":
			if sender {
				recipients++
			}
		case "QUIT":
			return messages, false
		case "DATA":
			if recipients == 0 {
				return messages, true // it depends on when the bytes arrive
			}
			end := bytes.Index(rest, []byte("\r\n.\r\n"))
			if end < 0 {
				return messages, false
			}
			text := strings.ReplaceAll(string(rest[:end+2]), "\r\n.", "\r\n")[2:]
			if strings.ContainsAny(strings.ReplaceAll(text, "\r\n", ""), "\r\n") {
				return messages, false // what follows is not executed
			}
			messages = append(messages, text)
			input = rest[end+5:]
			sender, recipients = false, 0
		default:
			if errors++; errors > 10 {
				return messages, false
			}
		}
	}
}

// fragments are what line ends, dots and second messages are made of.
var fragments = []string{
	"\r\n", "\r\n", "\n", "\r", ".", ".", "..", "a", "\x00", "\xff", ".\r\n", "\n.\n", "\n.\r\n", "\r.\r", "\r\n.\n", "\r\n.\r", "\r\r\n", strings.Repeat("x", 8190), strings.Repeat("y\r\n", 3000),
}

// TestDataIsWhatTheClientMeant checks for any bytes after DATA that the intake gets exactly the
// messages that RFC 5321 defines, however the network divides the bytes.
func TestDataIsWhatTheClientMeant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 20).Draw(t, "fragments"), "")
		body += rapid.SampledFrom([]string{"", "\r\n.\r\n", ".\r\n", "\r\n.\r\nNOOP\r\n"}).Draw(t, "end")
		input := opening + "DATA\r\n" + body + rapid.SampledFrom([]string{"", second, "\r\n.\r\n" + second + second}).Draw(t, "second") + "QUIT\r\n"
		checkModel(t, input, rapid.IntRange(1, 9000).Draw(t, "piece"))
	})
}

// checkModel compares the received messages with those of the model.
func checkModel(t reporter, input string, piece int) {
	replies, received := script(t, smtpd.Limits{}, []byte(input), piece)
	got := make([]string, len(received))
	for i, one := range received {
		got[i] = sent(t, one)
	}
	want, open := model([]byte(input))
	if open {
		got = got[:min(len(got), len(want))]
	}
	if !slices.Equal(got, want) {
		t.Fatalf("received %d messages, want %d: %.300q\n%.200q\n%.200q\n%s", len(received), len(want), input, got, want, replies)
	}
}

// FuzzData checks the same for any bytes that are one message. The model does not know what
// commands any bytes after a message are.
func FuzzData(f *testing.F) {
	for _, text := range fragments {
		f.Add([]byte("Subject: a\r\n\r\nhello"+text+second), uint16(1))
	}
	f.Fuzz(func(t *testing.T, body []byte, piece uint16) {
		if bytes.Contains(append([]byte("\r\n"), body...), []byte("\r\n.\r\n")) {
			return
		}
		checkModel(t, opening+"DATA\r\n"+string(body)+"\r\n.\r\n"+second+"QUIT\r\n", int(piece))
	})
}

// FuzzChunks checks for any bytes that chunks arrive unchanged, wherever they are divided, or
// are refused because of a CR or LF on its own.
func FuzzChunks(f *testing.F) {
	for _, text := range fragments {
		f.Add([]byte("Subject: a\r\n\r\n"+text), uint16(3), uint16(7))
	}
	f.Fuzz(func(t *testing.T, message []byte, size, piece uint16) {
		var input bytes.Buffer
		input.WriteString(opening)
		n := 0
		for part := range slices.Chunk(message, int(size)%1000+len(message)/500+1) {
			fmt.Fprintf(&input, "BDAT %d\r\n%s", len(part), part)
			n++
		}
		input.WriteString("BDAT 0 LAST\r\nQUIT\r\n")
		replies, got := script(t, smtpd.Limits{}, input.Bytes(), int(piece))
		bare := strings.ContainsAny(strings.ReplaceAll(string(message), "\r\n", ""), "\r\n")
		switch {
		case bare && (len(got) != 0 || !strings.Contains(replies, "554 5.6.0 ")):
			t.Errorf("%q: %d messages were received:\n%s", message, len(got), replies)
		case !bare && (len(got) != 1 || sent(t, got[0]) != string(message)):
			t.Errorf("%q: received %d messages:\n%s", message, len(got), replies)
		}
	})
}
