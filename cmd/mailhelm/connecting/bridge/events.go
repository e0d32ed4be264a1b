package bridge

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readEvents reads a stream of server-sent events and calls deliver with the data of each
// event. It returns nil at the end of the stream, and else the error of the stream or of
// deliver. An event that is cut off is not delivered.
func readEvents(r io.Reader, deliver func([]byte) error) error {
	lines := bufio.NewReader(r)
	var data []byte
	has := false
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if has {
				if err := deliver(data); err != nil {
					return err
				}
			}
			data, has = nil, false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if has {
			data = append(data, '\n')
		}
		data, has = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
	}
}
