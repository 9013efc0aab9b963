/* Whether libhone knows no tuned result at all: so it does where its own prefix has none, whatever the tree that it was built in has. */
#include <hone.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    hone_session* session = NULL;
    char* records = NULL;
    if (hone_session_open("cpu", NULL, &session) != HONE_OK || hone_session_records(session, NULL, &records) != HONE_OK)
        return fprintf(stderr, "%s\n", hone_last_error()), 1;
    const int none = strcmp(records, "[]") == 0;
    printf("libhone %s reads the records of its own prefix: %s\n", hone_version(), none ? "yes" : "NO");
    hone_text_free(records);
    hone_session_close(session);
    return none ? 0 : 1;
}
