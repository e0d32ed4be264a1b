package settings

import "fmt"

// stringOf writes a setting as it would be written in the environment; what was
// never set is empty.
func stringOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int:
		if v == 0 {
			return ""
		}
	}
	return fmt.Sprint(value)
}
