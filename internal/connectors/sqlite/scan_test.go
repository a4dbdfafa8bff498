package sqlite

import (
	"fmt"
	"strings"
)

// sscan reads "row column".
func sscan(place string, row *int, column *string) (int, error) {
	number, name, _ := strings.Cut(place, " ")
	*column = name
	return fmt.Sscan(number, row)
}
