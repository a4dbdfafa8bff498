package option

import (
	"net/url"
	"reflect"
	"testing"
)

func TestFromQueryTakesWhatIsNamedLikeAnOption(t *testing.T) {
	type options struct {
		URL  string   `option:"url,required"`
		Mode string   `option:"mode" enum:"append,upsert" default:"append"`
		Key  []string `option:"key"`
		Pre  []string `option:"pre,whole"`
		Size Size     `option:"size"`
	}
	query, err := url.ParseQuery("url=x&mode=upsert&key=a,b&pre=SELECT+1,2&pre=SELECT+3&sslmode=disable&size=1MiB")
	if err != nil {
		t.Fatal(err)
	}
	values, err := FromQuery(new(options), query, "url")
	if err != nil {
		t.Fatal(err)
	}
	values["url"] = "u"
	var o options
	if err := Parse(values, &o); err != nil {
		t.Fatal(err)
	}
	if want := (options{"u", "upsert", []string{"a", "b"}, []string{"SELECT 1,2", "SELECT 3"}, 1 << 20}); !reflect.DeepEqual(o, want) {
		t.Errorf("options %+v, want %+v", o, want)
	}
	if rest := query.Encode(); rest != "sslmode=disable&url=x" {
		t.Errorf("%q is left of the query", rest)
	}
	if _, err := FromQuery(new(options), url.Values{"mode": {"append", "upsert"}}); err == nil {
		t.Error("a mode that stands twice is taken")
	}
}
