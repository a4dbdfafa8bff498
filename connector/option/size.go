package option

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as people do: 512, 1k, 64MB, 20MiB,
// 1.5GiB. k, M, G and T (with or without B) are powers of 1000, Ki, Mi, Gi
// and Ti (with or without B) powers of 1024; case does not matter.
type Size int64

// Bytes returns the size as a plain number.
func (s Size) Bytes() int64 { return int64(s) }

// ParseSize reads a size of 0 or more.
func ParseSize(text string) (Size, error) {
	trimmed := strings.TrimSpace(text)
	end := strings.IndexFunc(trimmed, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(trimmed)
	}
	factor, ok := sizeFactor(strings.ToLower(strings.TrimSpace(trimmed[end:])))
	if !ok || end == 0 {
		return 0, fmt.Errorf("%q is not a size such as 512, 64MB or 20MiB", text)
	}
	n, ok := new(big.Rat).SetString(trimmed[:end])
	if !ok {
		return 0, fmt.Errorf("%q is not a size such as 512, 64MB or 20MiB", text)
	}
	n.Mul(n, new(big.Rat).SetInt64(factor))
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() {
		return 0, fmt.Errorf("%q is larger than any size can be", text)
	}
	return Size(whole.Int64()), nil
}

func sizeFactor(unit string) (int64, bool) {
	unit = strings.TrimSuffix(unit, "b")
	base := int64(1000)
	if before, ok := strings.CutSuffix(unit, "i"); ok {
		unit, base = before, 1024
		if unit == "" {
			return 0, false
		}
	}
	power := strings.Index("kmgtp", unit) + 1
	if unit == "" {
		return 1, true
	}
	if power == 0 || len(unit) != 1 {
		return 0, false
	}
	factor := int64(1)
	for range power {
		factor *= base
	}
	return factor, true
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := ParseSize(string(text))
	if err != nil {
		return err
	}
	*s = n
	return nil
}

// String returns the size in the largest unit that tells it exactly.
func (s Size) String() string {
	for _, u := range []struct {
		name string
		size Size
	}{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}} {
		if s >= u.size && s%u.size == 0 {
			return strconv.FormatInt(int64(s/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
