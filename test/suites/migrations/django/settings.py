import os

DATABASES = {'default': {
    'ENGINE': 'django.db.backends.mysql', 'HOST': os.environ['APP_HOST'], 'PORT': int(os.environ['APP_PORT']),
    'USER': os.environ['APP_USER'], 'PASSWORD': os.environ['APP_PASSWORD'], 'NAME': os.environ['APP_DATABASE'],
}}
INSTALLED_APPS = ['depot']
SECRET_KEY = 'tests'
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
