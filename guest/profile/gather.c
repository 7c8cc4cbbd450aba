/* Runs each program that is named, in QuickJS alone: built with counters, it leaves the profile that the guest is
 * compiled with. A program defines `execute`, which is called once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    *len = ftell(file);
    rewind(file);
    char *text = malloc(*len + 1);
    if (!text || fread(text, 1, *len, file) != *len) {
        perror(path);
        exit(1);
    }
    text[*len] = 0;
    fclose(file);
    return text;
}

/* Evaluates, and prints what it gives or ends. */
static void evaluate(JSContext *context, const char *name, const char *text, size_t len, int show)
{
    JSValue value = JS_Eval(context, text, len, name, JS_EVAL_TYPE_GLOBAL);
    int threw = JS_IsException(value);
    if (threw)
        value = JS_GetException(context);
    const char *shown = JS_ToCString(context, value);
    if (threw || show)
        printf("%s: %s\n", name, shown ? shown : "(no text)");
    JS_FreeCString(context, shown);
    JS_FreeValue(context, value);
    if (threw)
        exit(1);
}

int main(int argc, char **argv)
{
    static const char call[] = "JSON.stringify(execute())";
    for (int i = 1; i < argc; i++) {
        JSRuntime *runtime = JS_NewRuntime();
        JSContext *context = JS_NewContext(runtime), *ran;
        size_t len;
        char *text = read_file(argv[i], &len);
        evaluate(context, argv[i], text, len, 0);
        evaluate(context, argv[i], call, sizeof call - 1, 1);
        while (JS_ExecutePendingJob(runtime, &ran) > 0)
            ;
        free(text);
        JS_FreeContext(context);
        JS_FreeRuntime(runtime);
    }
    return 0;
}
